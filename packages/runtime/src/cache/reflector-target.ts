import type { KubernetesObject } from '@bowline/kubernetes';

/** Snapshot collects a complete state next to the current one, which stays readable until `commit`. */
export interface Snapshot {
  add(object: KubernetesObject): void;
  /** remove removes an object that was deleted while the state was still arriving. */
  remove(object: KubernetesObject): void;
  /** clear starts over. */
  clear(): void;
}

/** CommitOptions holds what is known about a complete state. */
export interface CommitOptions {
  /** The server's history went back, so objects may legitimately be older than before. */
  readonly rewound: boolean;
  /**
   * For a read of the newest state, the monotonic wire time at which it was requested; see `ReflectorTarget.proven`.
   */
  readonly newestSince: number | undefined;
}

/** ReflectorTarget is what a reflector keeps up to date. It owns the objects passed to it: no other code holds them. */
export interface ReflectorTarget {
  /** begin starts a snapshot; one that is never committed is dropped. */
  begin(): Snapshot;
  /** commit replaces the state in one step and reports the resulting changes. */
  commit(snapshot: Snapshot, version: string, options: CommitOptions): Promise<void>;
  /**
   * recordNewest records that the newest state of the server was at `version` at some time after `since` (monotonic
   * wire time). Anything known before that time that claims to be newer belongs to a history that the server has lost.
   */
  recordNewest(version: string, since: number): void;
  upsert(object: KubernetesObject): void;
  remove(object: KubernetesObject): void;
  /** flush ends a batch: everything up to `version` has been passed on. The stream is not read until it resolves. */
  flush(version: string | undefined): Promise<void>;
  /** removeAll reports that the kind itself is gone, and with it every object. */
  removeAll(): Promise<void>;
}
