interface Named {
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The name of an item for people: the saved one, else the names that the platform gave, else its id. */
export function itemTitle({ id, properties }: Named): string {
  const given = ["dataset_id", "resource_id", "version_id"].flatMap(
    (name) => text(properties[`platform:${name}`]) ?? [],
  );
  return text(properties["title"]) ?? (given.length > 0 ? given.join(" · ") : id);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
