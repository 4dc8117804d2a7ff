import { createHash } from 'node:crypto';

/** A line of a known_hosts file: names, type and key. Markers and comments are not written by OpenSSH for new hosts. */
const LINE = /^[^\s#@][^\s]* [a-z0-9@.-]+ ([A-Za-z0-9+/]+=*)(?:\s|$)/;

/** fingerprints returns the fingerprints of the keys in lines of a known_hosts file, as OpenSSH displays them. */
export function fingerprints(lines: readonly string[]): readonly string[] {
  const keys = lines.flatMap((line) => LINE.exec(line)?.[1] ?? []);
  return [...new Set(keys.map(fingerprintOf))].sort();
}

function fingerprintOf(key: string): string {
  const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

/**
 * pinnedLines returns lines of a known_hosts file if all their keys are among the pinned ones, and undefined otherwise. The
 * lines come from a ConfigMap that others may have changed; the fingerprints come from the status.
 */
export function pinnedLines(text: string | undefined, pinned: readonly string[]): readonly string[] | undefined {
  const lines = (text ?? '').split('\n').filter((line) => line.trim() !== '');
  const found = fingerprints(lines);
  const isTrusted =
    found.length > 0 && lines.every((line) => LINE.test(line)) && found.every((each) => pinned.includes(each));
  return isTrusted ? lines : undefined;
}
