/**
 * rawMember returns the text of a member of a JSON object as written: numbers keep all their digits, which JSON.parse
 * would round. Of several members of that name it returns the last, like JSON.parse, which must have accepted the
 * object.
 */
export function rawMember(object: string, name: string): string | undefined {
  let found: string | undefined;
  let at = object.indexOf('{') + 1;
  for (;;) {
    at = object.indexOf('"', at);
    if (at < 0) return found;
    const keyEnd = endOfText(object, at);
    const key: unknown = JSON.parse(object.slice(at, keyEnd));
    const begin = object.indexOf(':', keyEnd) + 1;
    const end = endOfValue(object, begin);
    if (key === name) found = object.slice(begin, end).trim();
    if (object[end] !== ',') return found;
    at = end + 1;
  }
}

/** Returns the index after the value that starts at or after `begin`. */
function endOfValue(text: string, begin: number): number {
  let depth = 0;
  for (let at = begin; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfText(text, at) - 1;
    else if (character === '{' || character === '[') depth++;
    else if (depth === 0 && (character === ',' || character === '}' || character === ']')) return at;
    else if (character === '}' || character === ']') depth--;
  }
  return text.length;
}

/** Returns the index after the quoted text that starts at `begin`. */
function endOfText(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
