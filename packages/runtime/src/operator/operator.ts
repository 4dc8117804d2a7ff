import type { Clock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import type { Controller } from '../controller/controller.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';

/** ConfigParser turns an operator's section of the configuration into its type, or throws saying what is wrong. */
export interface ConfigParser<Config> {
  parse(section: unknown): Config;
}

/** SetupContext is what an operator's `setup` gets. */
export interface SetupContext<Config> {
  readonly config: Config;
  /** Reads at any time; writes only while this process leads, else they are refused with BOWLINE_NOT_LEADER. */
  readonly client: Client;
  /** The manager's namespace. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Aborted when the operator has stopped: close here what setup opened. */
  readonly signal: AbortSignal;
}

/** Service is something that runs beside the controllers: a receiver, an API, a poller. */
export interface Service<in Deps = never> {
  readonly name: string;
  /** Run on the leader only. Defaults to false: on every replica. */
  readonly leaderOnly?: boolean | undefined;
  /** run works until the signal is aborted. When it throws it is started again, later each time, up to a minute. */
  readonly run: (signal: AbortSignal, deps: Deps) => Promise<void>;
}

/** OperatorOptions declares an operator. */
export interface OperatorOptions<Deps, Config> {
  /** A DNS label, unique in a manager. Names the Lease (`bowline-<name>`), so changing it is a breaking change. */
  readonly name: string;
  readonly controllers?: readonly Controller<Deps>[] | undefined;
  readonly services?: readonly Service<Deps>[] | undefined;
  /** Defaults to no configuration. */
  readonly config?: ConfigParser<Config> | undefined;
  /** Needed as soon as a controller or service needs something. Name it before the services, so that their types follow. */
  readonly setup?: Setup<Deps, Config> | undefined;
}

/** SetupOption demands a `setup` as soon as a controller or service needs something of it. */
export type SetupOption<Deps, Config> = undefined extends Deps
  ? unknown
  : { readonly setup: Setup<Deps, Config> };

/** Setup makes what controllers and services need besides the cluster: providers, connections. Runs once, on every replica. */
export type Setup<Deps, Config> = (context: SetupContext<Config>) => Deps | Promise<Deps>;

/** Operator is a finished declaration; a Manager runs it under its own identity and Lease. */
export interface Operator {
  readonly name: string;
  readonly controllers: readonly Controller[];
  readonly services: readonly Service[];
  readonly config: ConfigParser<unknown> | undefined;
  readonly setup: Setup<unknown, never> | undefined;
}

/**
 * defineOperator declares an operator: controllers and services that share one identity, one Lease and one `setup`.
 *
 * @example
 * export const copy = defineOperator({ name: 'copy', controllers: [copies] });
 */
export function defineOperator<Deps = undefined, Config = undefined>(
  options: OperatorOptions<Deps, Config> & SetupOption<Deps, Config>,
): Operator {
  const { name, controllers = [], services = [], config, setup } = options;
  const refuse = (problem: string): never => {
    throw new BowlineError('BOWLINE_OPERATOR_INVALID', `cannot define the operator "${name}": ${problem}`);
  };
  if (!/^[a-z0-9](?:[-a-z0-9]{0,53}[a-z0-9])?$/.test(name)) {
    refuse('the name must be a DNS label (lower-case letters, digits and dashes) of at most 55 characters');
  }
  if (controllers.length + services.length === 0) refuse('it has neither controllers nor services');
  for (const [what, named] of [
    ['controller', controllers],
    ['service', services],
  ] as const) {
    const names = new Set<string>();
    for (const each of named) {
      if (names.has(each.name))
        refuse(`the ${what} name "${each.name}" is used twice; names tell their metrics and logs apart`);
      names.add(each.name);
    }
  }
  return Object.freeze({ name, controllers, services, config, setup });
}
