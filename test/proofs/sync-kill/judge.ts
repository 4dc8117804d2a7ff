import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiveTree } from '../sync-tree/live-tree.ts';

/** States are the live files before and after a sync. */
export interface States {
  /** By path; several where the gateway wrote the file while no agent ran. */
  readonly old: ReadonlyMap<string, readonly Buffer[]>;
  readonly next: ReadonlyMap<string, Buffer>;
}

/** Progress is what the agent's folder says about a sync. */
export interface Progress {
  readonly hasJournal: boolean;
  /** The commit of the manifest. */
  readonly commit: string | undefined;
}

/** readProgress reads the agent's folder. */
export function readProgress(data: string): Progress {
  const manifest = join(data, '.ignition-sync/manifest.json');
  const commit = existsSync(manifest)
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as { commit: string }).commit
    : undefined;
  return { hasJournal: existsSync(join(data, '.ignition-sync/journal.json')), commit };
}

/** filesOf returns the content of the files of a tree. */
export function filesOf(tree: LiveTree): Map<string, Buffer> {
  return new Map([...tree].flatMap(([path, entry]) => (entry.kind === 'file' ? [[path, entry.bytes] as const] : [])));
}

/** judgeMixture returns the paths that have neither their old nor their new content. */
export function judgeMixture(live: ReadonlyMap<string, Buffer>, { old, next }: States): string[] {
  return pathsOf(live, { old, next }).flatMap((path) => {
    const now = live.get(path);
    return isOld(path, now, old) || isSame(now, next.get(path)) ? [] : [`${path} is neither old nor new`];
  });
}

/** judgeState returns the paths that are not in the expected state. */
export function judgeState(live: ReadonlyMap<string, Buffer>, states: States, expected: 'old' | 'new'): string[] {
  return pathsOf(live, states).flatMap((path) => {
    const now = live.get(path);
    const isExpected = expected === 'old' ? isOld(path, now, states.old) : isSame(now, states.next.get(path));
    return isExpected ? [] : [`${path} is not ${expected}`];
  });
}

/** judgeLeftovers returns what a finished sync left in the agent's folder. */
export function judgeLeftovers(data: string): string[] {
  const state = join(data, '.ignition-sync');
  const known = ['manifest.json', 'replaced', 'staging'];
  const left = readdirSync(state).filter((name) => !known.includes(name));
  return [...left, ...readdirSync(join(state, 'staging'))].map((name) => `${name} was left behind`);
}

function pathsOf(live: ReadonlyMap<string, Buffer>, { old, next }: States): string[] {
  return [...new Set([...live.keys(), ...old.keys(), ...next.keys()])];
}

function isOld(path: string, now: Buffer | undefined, old: States['old']): boolean {
  const contents = old.get(path);
  return contents === undefined ? now === undefined : contents.some((each) => isSame(now, each));
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}
