import type { KubernetesObject, Resource } from '@bowline/kubernetes';

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

/**
 * LocalUse configures how an operator is tried out with `bowline up`, usually on a control plane that is deleted when
 * it stops.
 */
export interface LocalUse {
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
