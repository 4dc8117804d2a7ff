/** ChangeOrigin is what the message of a commit with changes of a gateway records, so that no other place has to remember it. */
export interface ChangeOrigin {
  /** The gateway, as `namespace/name/gateway` with the IgnitionSync. */
  readonly owner: string;
  /** The commit that the gateway had. */
  readonly commit: string;
  /** The id of the changes, and which part of them the branch contains. */
  readonly id: string;
  readonly part: number;
  readonly parts: number;
  /** The annotation `retry` of the IgnitionSync when the changes were pushed, as a hash. */
  readonly retry: string;
}

const TRAILERS = {
  owner: 'Ignition-Sync-Gateway',
  commit: 'Ignition-Sync-Commit',
  changes: 'Ignition-Sync-Changes',
  retry: 'Ignition-Sync-Retry',
} as const;

/** changeMessage returns the message of a commit with changes of a gateway. */
export function changeMessage({ owner, commit, id, part, parts, retry }: ChangeOrigin): string {
  return [
    `Changes of the gateway ${owner}`,
    '',
    `${TRAILERS.owner}: ${owner}`,
    `${TRAILERS.commit}: ${commit}`,
    `${TRAILERS.changes}: ${id} ${part}/${parts}`,
    `${TRAILERS.retry}: ${retry}`,
    '',
  ].join('\n');
}

/** parseChangeMessage reads the message of a commit. Undefined: it is not one of ours. */
export function parseChangeMessage(message: string): ChangeOrigin | undefined {
  const value = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(message)?.[1]?.trim() ?? '';
  const [, id = '', part = '', parts = ''] = /^(\w+) (\d+)\/(\d+)$/.exec(value(TRAILERS.changes)) ?? [];
  const [owner, commit, retry] = [value(TRAILERS.owner), value(TRAILERS.commit), value(TRAILERS.retry)];
  if (owner === '' || !/^[0-9a-f]{40}$/.test(commit) || id === '') return undefined;
  return { owner, commit, id, part: Number(part), parts: Number(parts), retry };
}
