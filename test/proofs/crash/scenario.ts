import type { Cluster } from '@bowline/control-plane/testing';
import type { Random } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import type { Identified } from './fingerprint.ts';

/** OperatorUnderTest is what runs in the process that is killed. It is the operator.ts of a scenario. */
export interface OperatorUnderTest {
  readonly operator: Operator;
  /** The operator's section of the configuration. Defaults to none. */
  readonly config?: unknown;
}

/**
 * CrashScenario is an operator and the deeds during which it is killed. It is a folder in `scenarios` with a scenario.ts and an
 * operator.ts.
 */
export interface CrashScenario extends OperatorUnderTest {
  /** What it is killed at, the most important first; the seed of a case decides which one it is. */
  readonly deeds: readonly string[];
  /** open makes what all cases share, bystanders above all. The kinds are installed; the operator does not run yet. */
  open(stage: Stage): Promise<World>;
}

/** Stage is where a scenario plays. */
export interface Stage {
  readonly cluster: Cluster;
  /** Whether there is little time: do the same with fewer objects. */
  readonly isShort: boolean;
  log(line: string): void;
}

/** World is what all cases of a scenario share. */
export interface World {
  /** What is worth knowing about it, such as how many objects a case writes. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** settled waits until the operator, which runs now, has done all that there is to do. */
  settled(): Promise<void>;
  /** begin prepares a case, up to the moment before its deed. The operator runs. */
  begin(deed: string, seed: number): Promise<CrashCase>;
}

/** CrashCase is one deed of the operator's, and what must hold after it whatever happens to the operator meanwhile. */
export interface CrashCase {
  /** About how many requests the deed takes: kills are spread over as many. */
  readonly requests: number;
  /** Whether an object has part in the deed. Every other object is a bystander and must stay exactly as it is. */
  isOwn(object: Identified): boolean;
  /** act sets the deed off. */
  act(): Promise<void>;
  /** progress is how much of the deed is done, from 0 to 1. */
  progress(): Promise<number>;
  /** meanwhile is what somebody else does while the operator is dead. */
  meanwhile(random: Random): Promise<void>;
  /** done waits until the operator says that the deed is done. */
  done(signal: AbortSignal): Promise<void>;
  /** problems is what is not as it must be. Asked after `done`. */
  problems(): Promise<readonly string[]>;
  /** end removes everything that the case made. The operator runs. */
  end(): Promise<void>;
}
