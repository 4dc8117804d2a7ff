import { installNamespaceName } from '../permissions/install-namespaces.ts';

/**
 * InstallNamespace is a namespace that an operator works in, whose name is a setting. It is created with the install
 * and never deleted with it.
 */
export interface InstallNamespace<in Config = never> {
  /** Distinguishes the namespaces of an operator. */
  readonly id: string;
  /** Stands for its name in `namespaces` of sources, writes, reports and `allow`. */
  readonly name: string;
  /** The labels that the namespace gets unless it has them already. */
  readonly labels: Readonly<Record<string, string>>;
  readonly nameFor: (config: Config) => string;
  /** Its name in this install, as in an operator that `withConfig` returned. Undefined: not configured yet. */
  readonly configuredName: string | undefined;
}

/**
 * installNamespace declares a namespace whose name is a setting of the operator. List it in `namespaces` of
 * `defineOperator`.
 *
 * @example
 * const operands = installNamespace('operands', (config: Config) => config.operandNamespace);
 * const server = controller(Server).owns(ConfigMap, { namespaces: [operands.name] }).reconcile(deploy);
 */
export function installNamespace<Config = unknown>(
  id: string,
  nameFor: (config: Config) => string,
  options: {
    /** For example those of the pod security standards. Defaults to none. */
    readonly labels?: Readonly<Record<string, string>> | undefined;
  } = {},
): InstallNamespace<Config> {
  const { labels = {} } = options;
  return Object.freeze({ id, name: installNamespaceName(id), labels, nameFor, configuredName: undefined });
}
