/**
 * memberText returns the text of a member of the outermost object, from a text that `canonicalJson` wrote; undefined if there is no
 * such member. It skips the other members without parsing them.
 */
export function memberText(json: string, name: string): string | undefined {
  const start = `"${name}":`;
  for (let at = 1; at < json.length; ) {
    const isWanted = json.startsWith(start, at);
    // After the name and its colon.
    const value = endOfString(json, at) + 1;
    const end = endOfValue(json, value);
    if (isWanted) return json.slice(value, end);
    at = end + 1;
  }
  return undefined;
}

/** Returns the position after the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  // A quotation mark after an odd number of backslashes is part of the string.
  while (end > 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end + 1;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

/** Returns the position after the value that begins at `start`: the next comma or closing bracket outside of it. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; ) {
    switch (json[at]) {
      case '"':
        at = endOfString(json, at);
        continue;
      case '{':
      case '[':
        depth++;
        break;
      case '}':
      case ']':
        if (depth === 0) return at;
        depth--;
        break;
      case ',':
        if (depth === 0) return at;
        break;
      default:
        break;
    }
    at++;
  }
  return json.length;
}
