/** JsonPath is a parsed path: names of members and indexes of items. */
export type JsonPath = readonly (string | number)[];

const PATH = /^(?:\.[^.[\]]+|\[\d{1,9}\])+$/;
const PART = /\.([^.[\]]+)|\[(\d+)\]/g;

/** parseJsonPath parses `.name` and `[n]` parts. It returns undefined for any other text. */
export function parseJsonPath(text: string): JsonPath | undefined {
  if (!PATH.test(text)) return undefined;
  return Array.from(text.matchAll(PART), ([, name, index]) => name ?? Number(index));
}
