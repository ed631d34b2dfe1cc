/**
 * Hides secrets in texts for the log: passwords in URLs, signatures, tokens and keys, in addresses,
 * messages and stacks, also under names that are written with percent signs.
 */
const hidden = "[hidden]";

/** Names of secrets in addresses, headers and logged objects. */
const secretName =
  /^(?:(?:x[-_])?api[-_]?key|[\w-]*token|sig|(?:[\w-]+-)?signature|(?:x-amz-)?credential|(?:proxy[-_])?authorization|[\w-]*cookie|[\w-]*passw(?:or)?d|pwd|[\w-]*secret|connection[-_]?string|database[-_]?url|(?:account|access|private|sharedaccess)[-_]?key)$/i;

/** In an address these are secrets too; in an object they are the code of an error or a file's key. */
const secretParameter = /^(?:code|key|auth|session)$/i;

/** Names may be encoded more than once: a proxy that decodes the rest would show the secret. */
function decodeName(name: string): string {
  let decoded = name;
  for (let round = 0; round < 3 && decoded.includes("%"); round++) {
    const before = decoded;
    decoded = decoded.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
      try {
        return decodeURIComponent(bytes);
      } catch {
        return bytes;
      }
    });
    if (decoded === before) break;
  }
  return decoded.trim();
}

export function hideSecrets(text: string): string {
  return (
    text
      .replace(/(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@"\\]*):[^\s/@"\\]+@/gi, `$1:${hidden}@`)
      .replace(/(\bhttps?:\/\/)[^\s:/?#@"\\]+@/gi, `$1${hidden}@`)
      .replace(/([?&;])([^\s=?&;"\\]{1,120})(=)[^\s&;"\\]+/g, hidePair)
      // The query of an address inside of another one.
      .replace(/(%3f|%26)([^\s=?&;"\\]{1,120}?)(%3d)[^\s&;"\\%]+/gi, hidePair)
      .replace(/(")([\w%.-]{2,60})("\s*:\s*")(?:\\.|[^"\\])*(")/g, hideField)
      .replace(/(\\")([\w%.-]{2,60})(\\"\s*:\s*\\")(?:(?!\\").)*(\\")/g, hideField)
      .replace(/()\b([\w%.-]{2,60})(\s*:\s*')[^'\\]*(')/g, hideField)
      .replace(/\b((?:AccountKey|SharedAccessKey|Password|api_?key)=)[^\s;&"\\]+/gi, `$1${hidden}`)
      .replace(/\b(rmhk_[0-9a-f]{12}_)[A-Za-z0-9_-]+/g, `$1${hidden}`)
      .replace(/\b(Bearer\s+)[A-Za-z0-9._~+/=-]+/gi, `$1${hidden}`)
      .replace(/\b(Basic\s+)([A-Za-z0-9+/_-]{4,}={0,2})/gi, hideBasic)
  );
}

function hidePair(pair: string, before: string, name: string, equals: string): string {
  const decoded = decodeName(name);
  const isSecret = secretName.test(decoded) || secretParameter.test(decoded);
  return isSecret ? `${before}${name}${equals}${hidden}` : pair;
}

function hideField(field: string, open: string, name: string, between: string, close: string) {
  return secretName.test(decodeName(name)) ? `${open}${name}${between}${hidden}${close}` : field;
}

/** User and password in base64; "Basic checks" stays as it is. */
function hideBasic(found: string, scheme: string, credentials: string): string {
  const isPair = Buffer.from(credentials, "base64").includes(":");
  return isPair ? `${scheme}${hidden}` : found;
}

/** An absolute path of two names or more; not the path of a web address. */
const absolutePath = /(?<![\w:/.])\/(?:[^\s/'"`:;,()<>[\]{}]+\/)+([^\s/'"`:;,()<>[\]{}]*)/g;

/** Leaves the last name of each path: the others show how a machine is set up. */
export function hidePaths(text: string): string {
  return text.replaceAll(absolutePath, "$1");
}
