import { setSearchParams } from "./navigation.ts";

/** A filter that lives in the address; Enter or leaving the field applies it. */
export function TextFilter({
  name,
  label,
  value = "",
}: {
  name: string;
  label: string;
  value?: string | undefined;
}) {
  return (
    <label className="field">
      {label}
      <input
        key={value}
        defaultValue={value}
        size={14}
        onKeyDown={(event) => {
          if (event.key === "Enter") setSearchParams({ [name]: event.currentTarget.value.trim() });
        }}
        onBlur={(event) => {
          const text = event.target.value.trim();
          if (text !== value) setSearchParams({ [name]: text });
        }}
      />
    </label>
  );
}
