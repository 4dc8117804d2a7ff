import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';
import type { Sample } from './command.ts';

/** DisplayState is the state of an object as it is displayed. */
export interface DisplayState {
  readonly isReady: boolean;
  /** One line. Never a secret value. */
  readonly message: string;
}

/** DisplayedResource selects objects of a kind that show the effect of an operator; see `show`. */
export interface DisplayedResource {
  readonly resource: Resource<KubernetesObject>;
  readonly labelSelector: string | undefined;
  readonly awaits: readonly string[];
  /** Untyped here: `show` checked the function against the kind. */
  readonly state: (object: never) => DisplayState;
}

/**
 * show declares objects that show the effect of an operator, in addition to those of its own kinds that have a status.
 *
 * @example
 * show(Secret, { labelSelector: 'example.dev/made-by=us', awaits: ['sample/login'], state: () => ({ isReady: true,
 * message: 'made' }) });
 */
export function show<T extends KubernetesObject>(
  resource: Resource<T>,
  options: {
    /** Defaults to every object of the kind. */
    readonly labelSelector?: string | undefined;
    /** Objects (`namespace/name`) that exist and are ready once the samples have taken effect. Defaults to none. */
    readonly awaits?: readonly string[] | undefined;
    readonly state: (object: T) => DisplayState;
  },
): DisplayedResource {
  const { labelSelector, awaits = [], state } = options;
  return Object.freeze({ resource: resource, labelSelector, awaits, state });
}

/** LocalDisplay configures how `bowline up` configures and displays an operator. */
export interface LocalDisplay {
  /** The operator's section of the configuration for that. Defaults to none. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** Why that section is unsafe elsewhere: one line, which is displayed. Defaults to nothing. */
  readonly warning?: string | undefined;
  /**
   * Objects to display in addition to those of its own kinds that have a status. A kind of its own that is declared
   * here is displayed only as declared; a sample of a kind without a status is displayed and awaited only if it is
   * declared here. Defaults to none.
   */
  readonly displayedResources?: readonly DisplayedResource[] | undefined;
  /**
   * Commands to try, most interesting first; they begin with `kubectl` or `bowline`. Defaults to showing a sample of
   * its own kinds.
   */
  readonly suggestedCommands?: readonly string[] | undefined;
}

/**
 * LocalUse configures how an operator is tried out with `bowline up`, usually on a control plane that is deleted when
 * it stops.
 */
export interface LocalUse extends LocalDisplay {
  /**
   * Starts what the samples need besides the cluster: a server, simulated devices. `bowline up` calls it before it
   * installs the operators, if it creates samples. What it returns takes the place of the fields above and of the
   * samples. Defaults to nothing.
   */
  readonly start?: ((context: LocalContext) => Promise<LocalTrial | LeftOut>) | undefined;
}

/** LocalContext is passed to `start`. */
export interface LocalContext {
  /** A folder for this operator, which only its user can read. It is removed at the end, except with `--data-dir`. */
  readonly folder: string;
  /** May do everything in the cluster. The kinds and the namespace of the operators may not exist yet. */
  readonly admin: Client;
  /** The manager's namespace. */
  readonly namespace: string;
  /**
   * kubeconfigFor returns the text of a kubeconfig of a ServiceAccount, for a process that runs outside of the cluster.
   * It contains a token, which expires after a day: write it only to files that others cannot read.
   */
  kubeconfigFor(account: LocalAccount): Promise<string>;
  /** Warnings and errors are displayed. */
  readonly log: Log;
  /** Aborted when `bowline up` stops. */
  readonly signal: AbortSignal;
}

/** LocalAccount is a ServiceAccount that exists, or a Pod that runs as one. */
export interface LocalAccount {
  readonly serviceAccount: { readonly namespace: string; readonly name: string };
  /**
   * The name of a Pod that runs as the ServiceAccount: the token is bound to it, as the one that a kubelet mounts.
   * Defaults to a token that is bound to no Pod.
   */
  readonly pod?: string | undefined;
}

/** LocalTrial describes what `start` has started. What it does not set is as declared. */
export interface LocalTrial extends LocalDisplay {
  readonly samples?: readonly Sample[] | undefined;
  /**
   * Resolves when everything that was started has ended, after the signal was aborted. `bowline up` waits for it, and
   * fails if it rejects before. Defaults to nothing to wait for.
   */
  readonly stopped?: Promise<void> | undefined;
}

/** LeftOut is the result of a `start` that cannot provide what the samples need: none are created. */
export interface LeftOut {
  /** Why the samples are left out, and what would help: one line, which is displayed. */
  readonly leftOut: string;
  /** Whether the operator cannot run either: it is left out too. Defaults to false. */
  readonly isOperatorLeftOut?: boolean | undefined;
}
