const MIN_PART_LENGTH = 10;
/** The number of characters that an excerpt has on each side of a trace. */
const CONTEXT = 60;

/**
 * tracesOf returns the forms in which a value, or one half of it, may appear in a text: as is, in JSON, in URLs, in hex,
 * as a printed Buffer, and in Base64 at any offset.
 */
export function tracesOf(value: string): readonly string[] {
  return [...new Set(partsOf(value).flatMap(formsOf))];
}

/** leaksOf returns an excerpt for each value of which a text contains a trace. */
export function leaksOf(text: string, values: readonly string[]): readonly string[] {
  return values.flatMap((value) => {
    const trace = tracesOf(value).find((each) => text.includes(each));
    if (trace === undefined) return [];
    const at = text.indexOf(trace);
    return [text.slice(Math.max(0, at - CONTEXT), at + trace.length + CONTEXT)];
  });
}

/** A text may be cut off within a value. The forms of a value contain those of its halves. */
function partsOf(value: string): readonly string[] {
  const half = Math.floor(value.length / 2);
  return half < MIN_PART_LENGTH ? [value] : [value.slice(0, half), value.slice(half)];
}

function formsOf(part: string): readonly string[] {
  const escaped = inJson(part);
  return [part, escaped, inJson(escaped)].flatMap(encodingsOf);
}

/** inJson returns a text as it is within JSON. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function encodingsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  // The length of the text before a value determines how its bytes align with the Base64 digits; the digits at the ends
  // are shared with its neighbors.
  const encoded = [0, 1, 2].map((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return digits.slice(before === 0 ? 0 : before + 1, -1);
  });
  return [
    text,
    encodeURIComponent(text),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    // As `inspect` and `JSON.stringify` print a Buffer.
    bytes.toString('hex').replace(/..(?!$)/g, '$& '),
    [...bytes].join(','),
    ...encoded,
    ...encoded.map((digits) => digits.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}
