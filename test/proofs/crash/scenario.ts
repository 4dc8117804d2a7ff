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
 * CrashScenario is an operator and the actions during which it is killed. It is a folder in `scenarios` with a scenario.ts and an
 * operator.ts.
 */
export interface CrashScenario extends OperatorUnderTest {
  /** The actions during which it is killed, the most important first; the seed of a case selects one. */
  readonly actions: readonly string[];
  /** open creates what all cases share, mainly bystanders. The kinds are installed; the operator does not run yet. */
  open(stage: Stage): Promise<World>;
}

/** Stage is the environment of a scenario. */
export interface Stage {
  readonly cluster: Cluster;
  /** Whether the run is short: run the same with fewer objects. */
  readonly isShort: boolean;
  log(line: string): void;
}

/** World is the state shared by all cases of a scenario. */
export interface World {
  /** Facts for the report, such as how many objects a case writes. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** settled waits until the operator, which runs now, has no work left. */
  settled(): Promise<void>;
  /** begin prepares a case, up to the moment before its action. The operator runs. */
  begin(action: string, seed: number): Promise<CrashCase>;
}

/** CrashCase is one action of the operator, and what must hold after it regardless of kills. */
export interface CrashCase {
  /** The approximate number of requests of the action: kills are spread over them. */
  readonly requests: number;
  /** Whether an object takes part in the action. Every other object is a bystander and must not change. */
  isOwn(object: Identified): boolean;
  /** act starts the action. */
  act(): Promise<void>;
  /** progress returns how much of the action is done, from 0 to 1. */
  progress(): Promise<number>;
  /** meanwhile does what another client does while the operator is dead. */
  meanwhile(random: Random): Promise<void>;
  /** done waits until the operator reports that the action is done. */
  done(signal: AbortSignal): Promise<void>;
  /** problems returns what is wrong. Called after `done`. */
  problems(): Promise<readonly string[]>;
  /** end removes everything that the case created. The operator runs. */
  end(): Promise<void>;
}
