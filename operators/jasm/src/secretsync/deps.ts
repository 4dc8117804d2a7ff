import type { Clock } from '@bowline/machinery';
import type { Read } from '@bowline/runtime/resource';
import type { PodAnnotation } from '../annotation/secret-sync-request.ts';
import type { config } from '../config.ts';
import type { JasmMetrics } from '../metrics.ts';
import type { Policy } from '../policy/permit.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import type { SourceReads } from '../sources/source-reads.ts';
import type { SyncMemory } from './memory.ts';
import type { ProviderConcurrency } from './provider-concurrency.ts';

/** Config is the parsed configuration of the operator. */
export type Config = Read<typeof config>;

/** Settings holds the configured durations. */
export interface Settings {
  readonly deletionGraceMs: number;
  /** 0: never. */
  readonly resyncMs: number;
  /** 0: no limit. */
  readonly restartIntervalMs: number;
  /** 0: never. */
  readonly permanentErrorRequeueMs: number;
}

/** Deps holds the dependencies of the controllers besides the cluster. */
export interface Deps {
  readonly config: Config;
  readonly settings: Settings;
  readonly policy: Policy;
  /** The providers that pods may name. */
  readonly kinds: ReadonlyMap<string, ConfiguredKind>;
  /**
   * parseAnnotation parses the annotation of a pod, and checks it against the names and the path formats of these
   * providers.
   */
  readonly parseAnnotation: (annotation: string) => PodAnnotation;
  readonly sources: Pick<SourceReads, 'read'>;
  readonly providerConcurrency: ProviderConcurrency;
  readonly memory: SyncMemory;
  /** The clock for the instants of reads and of the reasons to read; see `orderedClock`. */
  readonly instantClock: Clock;
  readonly metrics: JasmMetrics;
}
