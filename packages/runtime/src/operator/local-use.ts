import type { KubernetesObject, Resource } from '@bowline/kubernetes';

/** ShownState is what people want to know of an object. */
export interface ShownState {
  readonly isReady: boolean;
  /** One line. Never a secret value. */
  readonly message: string;
}

/** Shown is objects of a kind that show what an operator does; see `show`. */
export interface Shown {
  readonly resource: Resource<KubernetesObject>;
  readonly labelSelector: string | undefined;
  readonly awaits: readonly string[];
  /** Untyped here: `show` held the kind and the function together. */
  readonly state: (object: never) => ShownState;
}

/**
 * show declares objects that show what an operator does, beside those of its own kinds.
 *
 * @example
 * show(Secret, { labelSelector: 'example.dev/made-by=us', awaits: ['sample/login'], state: () => ({ isReady: true, message: 'made' }) });
 */
export function show<T extends KubernetesObject>(
  resource: Resource<T>,
  options: {
    /** Defaults to every object of the kind. */
    readonly labelSelector?: string | undefined;
    /** Objects (`namespace/name`) that are there and ready once the samples have had their effect. Defaults to none. */
    readonly awaits?: readonly string[] | undefined;
    readonly state: (object: T) => ShownState;
  },
): Shown {
  const { labelSelector, awaits = [], state } = options;
  return Object.freeze({ resource: resource, labelSelector, awaits, state });
}

/** LocalUse is how an operator is tried out: by `bowline up`, mostly on a control plane that goes when it stops. */
export interface LocalUse {
  /** Its section of the configuration there. Defaults to none. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** What makes that section unsafe elsewhere: one line, which is shown. Defaults to nothing. */
  readonly warning?: string | undefined;
  /** Objects to show beside those of its own kinds. Defaults to none. */
  readonly shows?: readonly Shown[] | undefined;
  /** Commands to try, most interesting first; they begin with `kubectl` or `bowline`. Defaults to looking at a sample of its own kinds. */
  readonly tries?: readonly string[] | undefined;
}
