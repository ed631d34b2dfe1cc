import { useId } from "react";
import type { InputDeclaration } from "../../../src/core/model/workflow.ts";
import { ChooseFile } from "../files/choose-file.tsx";
import { writeField } from "./field-text.ts";
import { isSource } from "./source-fields.ts";

/** A form field for a declared input, by its type. */
export function InputField({
  name,
  declaration,
  value,
  problem,
  onChange,
  onChoose,
}: {
  name: string;
  declaration: InputDeclaration;
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
  onChoose?: (path: string) => void;
}) {
  const id = useId();
  const common = {
    id,
    value,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-about`,
    "aria-required": declaration.required,
    onChange: (event: { target: { value: string } }) => {
      onChange(event.target.value);
    },
  };
  return (
    <div className="field">
      <label htmlFor={id}>
        {name}
        {declaration.required ? <span className="error-text"> *</span> : null}{" "}
        <small>
          {declaration.secret === true ? `secret ${declaration.type}` : declaration.type}
        </small>
      </label>
      <Control declaration={declaration} common={common} />
      {onChoose !== undefined && isSource(name) ? (
        <ChooseFile name={name} onChoose={onChoose} />
      ) : null}
      <small id={`${id}-about`} className={problem === undefined ? undefined : "error-text"}>
        {problem ?? about(declaration)}
      </small>
    </div>
  );
}

function Control({
  declaration,
  common,
}: {
  declaration: InputDeclaration;
  common: {
    id: string;
    value: string;
    onChange: (event: { target: { value: string } }) => void;
  };
}) {
  const { type, enum: allowed, minimum, maximum, secret } = declaration;
  if (secret === true) return <input {...common} type="password" autoComplete="off" />;
  if (allowed !== undefined || type === "boolean") {
    const options = allowed ?? [true, false];
    return (
      <select {...common}>
        <option value="">{declaration.required ? "choose" : "the default"}</option>
        {options.map((option) => (
          <option key={writeField(option)} value={writeField(option)}>
            {writeField(option)}
          </option>
        ))}
      </select>
    );
  }
  if (type === "array" || type === "object") {
    return <textarea {...common} rows={4} spellCheck={false} />;
  }
  if (type === "integer" || type === "number") {
    return (
      <input
        {...common}
        type="number"
        step={type === "integer" ? 1 : "any"}
        min={minimum}
        max={maximum}
      />
    );
  }
  return <input {...common} type="text" />;
}

function about({ description, minimum, maximum, pattern, default: fallback }: InputDeclaration) {
  const parts = [
    description,
    minimum === undefined ? undefined : `at least ${minimum}`,
    maximum === undefined ? undefined : `at most ${maximum}`,
    pattern === undefined ? undefined : `like ${pattern}`,
    fallback === undefined ? undefined : `default ${writeField(fallback).slice(0, 80)}`,
  ];
  return parts.filter((part) => part !== undefined).join(" · ");
}
