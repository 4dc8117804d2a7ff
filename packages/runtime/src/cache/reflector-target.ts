import type { KubernetesObject } from '@bowline/kubernetes';

/** Snapshot collects a complete state beside the current one, which stays readable until `commit`. */
export interface Snapshot {
  add(object: KubernetesObject): void;
  /** remove takes back an object that was deleted while the state was still coming in. */
  remove(object: KubernetesObject): void;
  /** clear starts over. */
  clear(): void;
}

/** ReflectorTarget is what a reflector keeps up to date. Objects handed to it are its own: nobody else holds them. */
export interface ReflectorTarget {
  /** begin starts a snapshot; one that is never committed is dropped. */
  begin(): Snapshot;
  /**
   * commit replaces the state in one step and tells what that changed. `rewound` says that the server's history went
   * back, so that objects may legitimately be older than before.
   */
  commit(snapshot: Snapshot, version: string, rewound: boolean): Promise<void>;
  upsert(object: KubernetesObject): void;
  remove(object: KubernetesObject): void;
  /** flush ends a batch: everything up to `version` has been handed over. The stream is not read until it resolves. */
  flush(version: string | undefined): Promise<void>;
  /** vanished says that the kind itself is gone, and with it every object. */
  vanished(): Promise<void>;
}
