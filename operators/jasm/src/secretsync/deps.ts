import type { Clock } from '@bowline/machinery';
import type { Read } from '@bowline/runtime/resource';
import type { PodAnnotation } from '../annotation/secret-sync-request.ts';
import type { config } from '../config.ts';
import type { JasmMetrics } from '../metrics.ts';
import type { Policy } from '../policy/permit.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import type { SourceReads } from '../sources/source-reads.ts';
import type { SyncMemory } from './memory.ts';
import type { StorePlaces } from './store-places.ts';

/** Config is the operator's configuration as it is read. */
export type Config = Read<typeof config>;

/** Settings are the configured times. */
export interface Settings {
  readonly deletionGraceMs: number;
  /** 0: never. */
  readonly resyncMs: number;
  /** 0: there is no limit. */
  readonly restartIntervalMs: number;
  /** 0: never. */
  readonly permanentErrorRequeueMs: number;
}

/** Deps is what the controllers need besides the cluster. */
export interface Deps {
  readonly config: Config;
  readonly settings: Settings;
  readonly policy: Policy;
  /** The providers that pods may name. */
  readonly kinds: ReadonlyMap<string, ConfiguredKind>;
  /** read is what the annotation of a pod says, in terms of these providers: their names, and paths as they have them. */
  readonly read: (annotation: string) => PodAnnotation;
  readonly sources: Pick<SourceReads, 'read'>;
  readonly places: StorePlaces;
  readonly memory: SyncMemory;
  /** The instants of reasons to read, and of reads; see `orderedClock`. */
  readonly instants: Clock;
  readonly metrics: JasmMetrics;
}
