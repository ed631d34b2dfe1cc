/** The zone of a path apart from the rest, as workflows take it. */
export function splitPlace(path: string): { container: string; blob_path: string } {
  const at = path.indexOf("/");
  return { container: path.slice(0, at), blob_path: path.slice(at + 1) };
}
