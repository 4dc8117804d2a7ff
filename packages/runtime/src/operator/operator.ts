import type { Clock, Random } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import type { Controller } from '../controller/controller.ts';
import type { OperatorId } from '../identity/operator-identity.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Permission } from '../permissions/permission.ts';
import type { CustomResource } from '../resource/custom-resource.ts';
import type { ConfiguredBy, Webhook } from '../webhook/webhook.ts';
import { checkOperator } from './check-operator.ts';
import type { Command, Sample } from './command.ts';
import type { Companion } from './companion.ts';
import type { CreatedWorkloads } from './created-workloads.ts';
import type { InstallNamespace } from './install-namespace.ts';
import type { LocalUse } from './local-use.ts';
import type { OperatorConfig } from './operator-config.ts';
import type { ScratchFolder } from './scratch-folder.ts';
import type { DeclaredService, Service } from './service.ts';

/** SetupContext is passed to an operator's `setup`. */
export interface SetupContext<Config> {
  readonly config: Config;
  /**
   * Allows what the operator declares, and rejects everything else with BOWLINE_UNDECLARED_PERMISSION. It reads and
   * creates reviews at any time, and writes only while this process leads; other writes fail with BOWLINE_NOT_LEADER.
   * A service has a client in its context that writes on every replica.
   */
  readonly client: Client;
  /** The manager's namespace. */
  readonly namespace: string;
  /** The namespaces that the manager is limited to. Undefined: the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
  /**
   * The image of the manager's own container, for Pods that run the same program. Undefined if the manager is not
   * installed by manifests, for example in `bowline up`.
   */
  readonly image: string | undefined;
  /**
   * scratchFolder returns the path of the folder that the operator declares as `scratchFolder`. It is empty at the first
   * start of a Pod and may be kept when its container is restarted. Throws BOWLINE_SCRATCH_FOLDER if none is declared.
   */
  scratchFolder(): string;
  /** nameOf returns the name that a companion of the operator has in this install. */
  nameOf(companion: Companion): string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Aborted when the operator has stopped: close then what setup opened. */
  readonly signal: AbortSignal;
}

/** OperatorOptions declares an operator. */
export interface OperatorOptions<Deps, Config> {
  /**
   * A DNS label, unique in a manager. Objects such as the Lease are named after it, so changing it is a breaking
   * change.
   */
  readonly name: string;
  /**
   * A DNS name of the publisher of the operator, for example `example.com`. Its labels and annotations begin with it
   * (`example.com/paused`), and the names of its objects and field managers with its part before the last dot
   * (`example-<name>`). Changing it is a breaking change.
   */
  readonly domain: string;
  /** The kinds that it defines. Defaults to none. */
  readonly resources?: readonly CustomResource[] | undefined;
  /**
   * Kinds of other projects that it uses. `bowline up` and the test rig install them where they are missing; they are
   * never overwritten or uninstalled. Defaults to none.
   */
  readonly dependencies?: readonly CustomResource[] | undefined;
  readonly controllers?: readonly Controller<Deps>[] | undefined;
  /** Defaults to none. */
  readonly webhooks?: readonly (Webhook<Deps> & ConfiguredBy<NoInfer<Config>>)[] | undefined;
  readonly services?: readonly Service<Deps, NoInfer<Config>>[] | undefined;
  /** Its subcommands of the CLI, including agents. Defaults to none. */
  readonly commands?: readonly Command[] | undefined;
  /**
   * The name under which kubectl runs its commands: with `hsm`, a link `kubectl-hsm` to the CLI makes them available as
   * `kubectl hsm <command>`. A dash is an underscore in the link's name. Defaults to none.
   */
  readonly kubectlPlugin?: string | undefined;
  /**
   * Permissions in addition to those that its declarations imply; see `allow`. A function computes them from the
   * configuration, so that disabled features need no rights. Defaults to none.
   */
  readonly permissions?: readonly Permission[] | ((config: Config) => readonly Permission[]) | undefined;
  /**
   * Further objects of its install, which an administrator creates: ClusterRoles, admission policies, ServiceAccounts;
   * see `companion`. Defaults to none.
   */
  readonly companions?: readonly Companion<NoInfer<Config>>[] | undefined;
  /**
   * Namespaces that it works in and whose names are settings; see `installNamespace`. An administrator creates them.
   * Defaults to none.
   */
  readonly namespaces?: readonly InstallNamespace<NoInfer<Config>>[] | undefined;
  /**
   * Workloads that it creates and that must not outlive it, because they hold credentials or parts of a node:
   * `bowline uninstall` removes them after the manager. Defaults to none.
   */
  readonly createdWorkloads?: readonly CreatedWorkloads[] | undefined;
  /** Its section of the configuration: a schema, or anything with `parse`. Defaults to no configuration. */
  readonly config?: OperatorConfig<Config> | undefined;
  /** A folder for files that it can create again; `setup` gets its path. Defaults to none. */
  readonly scratchFolder?: ScratchFolder<NoInfer<Config>> | undefined;
  /**
   * Objects that demonstrate it; those of its own kinds and of its dependencies must be valid. Their namespace may be
   * OWN_NAMESPACE, the manager's, or that of an `installNamespace`. Defaults to none.
   */
  readonly samples?: readonly Sample[] | undefined;
  /** How `bowline up` configures and displays it. Defaults to no configuration, and its own kinds. */
  readonly local?: LocalUse | undefined;
  /**
   * Required when a controller or service needs dependencies. Declare it before the services, so that their types are
   * inferred.
   */
  readonly setup?: Setup<Deps, Config> | undefined;
}

/** SetupOption requires a `setup` when a controller or service needs dependencies. */
export type SetupOption<Deps, Config> = undefined extends Deps ? unknown : { readonly setup: Setup<Deps, Config> };

/**
 * Setup creates what controllers and services need besides the cluster: providers, connections. Runs once, on every
 * replica.
 */
export type Setup<Deps, Config> = (context: SetupContext<Config>) => Deps | Promise<Deps>;

/** Operator is a complete declaration; a Manager runs it under its own identity and Lease. */
export interface Operator extends OperatorId {
  readonly resources: readonly CustomResource[];
  readonly dependencies: readonly CustomResource[];
  readonly controllers: readonly Controller[];
  /** `withConfig` returns the operator with the namespace selectors that they have. */
  readonly webhooks: readonly Webhook[];
  /** `withConfig` returns the operator with the ports that they have. */
  readonly services: readonly DeclaredService[];
  readonly commands: readonly Command[];
  readonly kubectlPlugin: string | undefined;
  /** A function if they depend on the configuration; `withConfig` returns the operator with a list. */
  readonly permissions: readonly Permission[] | ((config: never) => readonly Permission[]);
  /** `withConfig` returns the operator with companions that have their configuration. */
  readonly companions: readonly Companion[];
  /** `withConfig` returns the operator with namespaces that have their names, and replaces their placeholders. */
  readonly namespaces: readonly InstallNamespace[];
  readonly createdWorkloads: readonly CreatedWorkloads[];
  readonly config: OperatorConfig<unknown> | undefined;
  /** `withConfig` returns the operator with the size limit that it has. */
  readonly scratchFolder: ScratchFolder<never> | undefined;
  readonly setup: Setup<unknown, never> | undefined;
  readonly samples: readonly Sample[];
  readonly local: LocalUse;
}

/**
 * defineOperator declares an operator: kinds, controllers, webhooks and services that share one identity, one Lease and
 * one `setup`.
 *
 * @example
 * export const copy = defineOperator({ name: 'copy', domain: 'example.com', controllers: [copies] });
 */
export function defineOperator<Deps = undefined, Config = undefined>(
  options: OperatorOptions<Deps, Config> & SetupOption<Deps, Config>,
): Operator {
  const { name, domain, resources = [], controllers = [], webhooks = [], services = [], commands = [] } = options;
  const { kubectlPlugin, permissions = [], companions = [], createdWorkloads = [] } = options;
  const { dependencies = [], namespaces = [] } = options;
  const { config, scratchFolder, setup, samples = [], local = {} } = options;
  const operator: Operator = {
    name,
    domain,
    resources,
    dependencies,
    controllers,
    webhooks,
    services,
    commands,
    kubectlPlugin,
    permissions,
    companions,
    namespaces,
    createdWorkloads,
    config,
    scratchFolder,
    setup,
    samples,
    local,
  };
  checkOperator(operator);
  return Object.freeze(operator);
}
