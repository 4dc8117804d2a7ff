import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** PodInfo holds the labels and annotations of the pod. */
export interface PodInfo {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A line of a file of the downward API: a key and a quoted value. */
const LINE = /^([^=\n]+)="((?:[^"\\\n]|\\.)*)"$/gm;
/** An escape of a Go string. */
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/g;
const LETTERS: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/**
 * readPodInfo reads the labels and annotations that the kubelet writes into the folder, and updates when they change. Without a
 * folder, or before its files exist, there are none.
 */
export async function readPodInfo(folder: string | undefined): Promise<PodInfo> {
  const read = async (name: string): Promise<Readonly<Record<string, string>>> => {
    if (folder === undefined) return {};
    try {
      return parseFields(await readFile(join(folder, name), 'utf8'));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
      throw error;
    }
  };
  const [labels, annotations] = await Promise.all([read('labels'), read('annotations')]);
  return { labels, annotations };
}

/** parseFields parses a file of the downward API: lines of `key="value"`, with the escapes of Go strings. */
export function parseFields(text: string): Readonly<Record<string, string>> {
  const fields = [...text.matchAll(LINE)].map(([, key = '', value = '']) => [key, unquote(value)] as const);
  return Object.fromEntries(fields);
}

function unquote(quoted: string): string {
  return quoted.replace(ESCAPE, (_, ...groups: readonly (string | undefined)[]) => {
    const [byte, short, long, octal, letter = ''] = groups;
    const hex = byte ?? short ?? long;
    if (hex !== undefined) return fromCodePoint(Number.parseInt(hex, 16));
    if (octal !== undefined) return fromCodePoint(Number.parseInt(octal, 8));
    return LETTERS[letter] ?? letter;
  });
}

function fromCodePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
