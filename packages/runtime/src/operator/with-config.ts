import { BowlineError } from '../errors/bowline-error.ts';
import { installNamespaceId } from '../permissions/install-namespaces.ts';
import { withNamespaceSelector } from '../webhook/declare.ts';
import type { Sample } from './command.ts';
import { withCompanionConfig } from './companion.ts';
import type { InstallNamespace } from './install-namespace.ts';
import type { Operator } from './operator.ts';
import { readConfig } from './operator-config.ts';
import { withSizeLimit } from './scratch-folder.ts';
import { withServicePort } from './service.ts';
import {
  type ResolveNamespace,
  withControllerNamespaces,
  withNamespaces,
  withSourceNamespaces,
} from './with-namespaces.ts';

/**
 * withConfig returns an operator with the permissions, companions, namespaces, namespace selectors of webhooks, ports of
 * services and scratch folder that a configuration requires.
 * `section` is its section as written; undefined means an empty one. An operator of which nothing depends on the
 * configuration is returned unchanged. Throws BOWLINE_CONFIG_INVALID.
 *
 * @example
 * const manifests = rbacManifests(await withConfig(jasm, { allowDeletion: true }), { namespace: 'bowline-system' });
 */
export async function withConfig(operator: Operator, section: unknown): Promise<Operator> {
  const { name, config, permissions, companions } = operator;
  if (isConfigured(operator)) return operator;
  // `defineOperator` checked the functions against the type of the configuration.
  const parsed = (await readConfig(name, config, section)) as never;
  const namespaces = operator.namespaces.map((each) => configuredNamespace(name, each, parsed));
  const resolve = resolverOf(name, namespaces);
  const allowed = typeof permissions === 'function' ? permissions(parsed) : permissions;
  return Object.freeze({
    ...operator,
    namespaces,
    controllers: operator.controllers.map((each) => withControllerNamespaces(each, resolve)),
    webhooks: operator.webhooks.map((each) => withSourceNamespaces(withNamespaceSelector(each, parsed), resolve)),
    permissions: allowed.map((each) => withNamespaces(each, resolve)),
    services: operator.services.map((each) => withServicePort(name, each, parsed)),
    scratchFolder: withSizeLimit(name, operator.scratchFolder, parsed),
    samples: operator.samples.map((each) => withSampleNamespace(each, resolve)),
    companions: companions.map((each) => (each.isConfigured ? each : withCompanionConfig(each, parsed, resolve))),
  });
}

function isConfigured(operator: Operator): boolean {
  const { permissions, companions, namespaces, webhooks, services, scratchFolder } = operator;
  return (
    typeof permissions !== 'function' &&
    webhooks.every(({ namespaceSelector }) => typeof namespaceSelector !== 'function') &&
    companions.every((each) => each.isConfigured) &&
    namespaces.every(({ configuredName }) => configuredName !== undefined) &&
    services.every(({ port }) => typeof port !== 'function') &&
    typeof scratchFolder?.sizeLimit !== 'function'
  );
}

function configuredNamespace(operator: string, declared: InstallNamespace, config: never): InstallNamespace {
  const configuredName = declared.configuredName ?? declared.nameFor(config);
  if (!DNS_LABEL.test(configuredName)) {
    throw new BowlineError(
      'BOWLINE_CONFIG_INVALID',
      `the configuration of the operator ${operator} is not valid: it names its namespace ${declared.id} "${configuredName}"; use a DNS label (lower-case letters, digits and dashes, at most 63 characters)`,
    );
  }
  return Object.freeze({ ...declared, configuredName });
}

const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

function withSampleNamespace(sample: Sample, resolve: ResolveNamespace): Sample {
  const { metadata } = sample;
  if (metadata?.namespace === undefined) return sample;
  return { ...sample, metadata: { ...metadata, namespace: resolve(metadata.namespace) } };
}

function resolverOf(operator: string, namespaces: readonly InstallNamespace[]): ResolveNamespace {
  return (namespace) => {
    const id = installNamespaceId(namespace);
    if (id === undefined) return namespace;
    const name = namespaces.find((each) => each.id === id)?.configuredName;
    if (name !== undefined) return name;
    throw new BowlineError(
      'BOWLINE_OPERATOR_INVALID',
      `cannot configure the operator "${operator}": its permissions, companions or samples name the namespace ${id}, which \`namespaces\` does not list; add it there`,
    );
  };
}
