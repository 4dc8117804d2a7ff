import type { Controller, ReportDeclaration, WriteDeclaration } from '../controller/controller.ts';
import type { Source } from '../controller/sources.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Permission } from '../permissions/permission.ts';
import { selectedName } from '../permissions/selected-name.ts';
import type { Webhook } from '../webhook/webhook.ts';
import type { Operator } from './operator.ts';

/**
 * withinNamespaces returns an operator that works only in some namespaces, so that it needs no rights in the whole
 * cluster: declarations for all namespaces apply to these, declarations with their own namespaces stay, and
 * declarations for the whole cluster only are omitted. Of the cluster-scoped kinds, only what an administrator may
 * grant by name remains. It throws BOWLINE_CLUSTER_WIDE_KIND for any other cluster-scoped kind. If `namespaces` is
 * undefined, it returns the operator unchanged.
 */
export function withinNamespaces(operator: Operator, namespaces: readonly string[] | undefined): Operator {
  if (namespaces === undefined) return operator;
  if (namespaces.length === 0) {
    throw new BowlineError(
      'BOWLINE_MANAGER_INVALID',
      'cannot limit operators to an empty list of namespaces; name at least one, or omit the list',
    );
  }
  const { permissions } = operator;
  const limit = new Limit(operator.name, [...new Set(namespaces)].sort());
  return Object.freeze({
    ...operator,
    controllers: operator.controllers.map((controller) => limit.controller(controller)),
    webhooks: operator.webhooks.map((webhook) => limit.webhook(webhook)),
    permissions:
      typeof permissions === 'function'
        ? (config: never) => limit.permissions(permissions(config))
        : limit.permissions(permissions),
  });
}

/** Limit narrows the declarations of one operator. */
class Limit {
  readonly #operator: string;
  readonly #namespaces: readonly string[];

  constructor(operator: string, namespaces: readonly string[]) {
    this.#operator = operator;
    this.#namespaces = namespaces;
  }

  controller(controller: Controller): Controller {
    return Object.freeze({
      ...controller,
      sources: controller.sources.map((source) => this.#source(source, `the controller ${controller.name} watches`)),
      writes: controller.writes.map((write) => this.#written(write, `the controller ${controller.name} writes`)),
      reports: controller.reports.map((report) =>
        this.#written(report, `the controller ${controller.name} sends events about`),
      ),
    });
  }

  webhook(webhook: Webhook): Webhook {
    const sources = webhook.sources.map((source) => this.#source(source, `the webhook ${webhook.name} reads`));
    return Object.freeze({ ...webhook, sources });
  }

  permissions(permissions: readonly Permission[]): readonly Permission[] {
    return permissions.flatMap((permission) => this.#permission(permission));
  }

  #permission(permission: Permission): readonly Permission[] {
    const { only, scope, names, namespaces, resource, verbs } = permission;
    if (only === 'cluster-wide') return [];
    const kept = { ...permission, only: undefined };
    if (namespaces !== undefined) return [kept];
    if (scope !== 'Cluster') return [{ ...kept, namespaces: this.#namespaces }];
    // Restricted to names, it is little enough for an administrator to grant.
    if (names !== undefined) return [kept];
    return this.#refuse(`it declares permission to ${verbs.join(', ')} ${resource}`, "only: 'cluster-wide'");
  }

  #source(source: Source, what: string): Source {
    if (source.clusterWideOnly) return { ...source, isOmitted: true };
    if (source.namespaces !== undefined) return source;
    if (source.resource.scope !== 'Cluster') return { ...source, namespaces: this.#namespaces };
    // Reading by name is little enough for an administrator to grant. A primary object is also written.
    if (source.role !== 'primary' && selectedName(source.fieldSelector) !== undefined) return source;
    return this.#refuse(`${what} ${source.resource.kind}`, 'clusterWideOnly: true');
  }

  #written<D extends WriteDeclaration | ReportDeclaration>(declared: D, what: string): D {
    if (declared.namespaces !== undefined) return declared;
    if (declared.resource.scope === 'Cluster') this.#refuse(`${what} ${declared.resource.kind}`);
    return { ...declared, namespaces: this.#namespaces };
  }

  #refuse(what: string, declaration?: string): never {
    const author =
      declaration === undefined ? '' : `, or declare it with \`${declaration}\` if the operator works without it`;
    throw new BowlineError(
      'BOWLINE_CLUSTER_WIDE_KIND',
      `cannot limit the operator ${this.#operator} to the namespaces ${this.#namespaces.join(', ')}: ${what}, which is cluster-scoped; run it without namespaces${author}`,
    );
  }
}
