import type { KubernetesObject, ObjectMeta, Resource } from '@bowline/kubernetes';
import { ownName } from '../permissions/own-names.ts';
import type { ResolveNamespace } from './with-namespaces.ts';

/** CompanionContext describes the install that a companion belongs to. */
export interface CompanionContext<out Config = unknown> {
  readonly config: Config;
  /** The manager's namespace. */
  readonly namespace: string;
  /** The name of the manager's ServiceAccount, which is in its namespace. */
  readonly serviceAccount: string;
  /** The namespaces that the install is limited to. Undefined: the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
  /** nameOf returns the name that a companion has in this install. */
  nameOf(companion: Companion): string;
}

/**
 * CompanionContent is the content of a companion, without its name. The namespace of a namespaced kind defaults to the
 * manager's; it may be that of an `installNamespace`.
 */
export type CompanionContent<T extends KubernetesObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata' | 'status'> & {
  readonly metadata?: Pick<ObjectMeta, 'namespace' | 'labels' | 'annotations'> | undefined;
};

/**
 * Companion is an object of an operator's install besides its identity, its kinds and its webhooks: a ClusterRole, an
 * admission policy. An administrator creates it; the manager has no permission to write it.
 */
export interface Companion<in Config = never> {
  readonly resource: Resource<KubernetesObject>;
  /** The part of its name after that of the install. */
  readonly suffix: string;
  /** Stands for its name in the `names` of `allow`. */
  readonly name: string;
  /** Selects it as the source of a controller or webhook, which then reads it by name. */
  readonly fieldSelector: string;
  /** Untyped here: `companion` checked it against the kind. */
  readonly content: (context: CompanionContext<Config>) => CompanionContent<KubernetesObject> | undefined;
  /** Whether `content` has its configuration already, as in an operator that `withConfig` returned. */
  readonly isConfigured: boolean;
}

/** CompanionDeclaration is a companion without its content. */
export interface CompanionDeclaration<T extends KubernetesObject> {
  /** content sets the function that returns the object for an install, or undefined for one that does not need it. */
  content<Config = unknown>(
    content: (context: CompanionContext<Config>) => CompanionContent<T> | undefined,
  ): Companion<Config>;
}

/**
 * companion declares an object of the operator's install, with the name `<install>-<suffix>`.
 *
 * @example
 * const scanner = companion(ClusterRole, 'scanner').content(() => ({ rules: [{ apiGroups: [''], resources: ['pods'],
 * verbs: ['get'] }] }));
 * export const scans = defineOperator({ name: 'scans', domain: 'example.com', controllers: [scan], companions: [scanner],
 * permissions: [allow(['bind'], ClusterRole, { names: [scanner.name] })] });
 */
export function companion<T extends KubernetesObject>(resource: Resource<T>, suffix: string): CompanionDeclaration<T> {
  const name = ownName(suffix);
  const fieldSelector = `metadata.name=${name}`;
  return {
    content: (content) => Object.freeze({ resource, suffix, name, fieldSelector, content, isConfigured: false }),
  };
}

/** withCompanionConfig returns a companion whose content is that for a parsed configuration. */
export function withCompanionConfig(declared: Companion, config: unknown, resolve: ResolveNamespace): Companion {
  return Object.freeze({
    ...declared,
    content(context: CompanionContext) {
      // `defineOperator` checked the function against the type of the configuration.
      const content = declared.content({ ...context, config: config as never });
      const namespace = content?.metadata?.namespace;
      if (content === undefined || namespace === undefined) return content;
      return { ...content, metadata: { ...content.metadata, namespace: resolve(namespace) } };
    },
    isConfigured: true,
  });
}
