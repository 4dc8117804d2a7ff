import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Ingress,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import type { Container } from '@bowline/kubernetes/core-v1';
import type { Child } from '../objects/child.ts';
import { ROUTER } from '../objects/external-certificate.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import { Route } from '../third-party/route.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';
import { objectsOf, type Workload, workloadsOf } from './rendered.test-support.ts';

/** Externals are the objects that rendered objects may name although the renderers do not return them. */
export interface Externals {
  readonly configMaps: readonly string[];
}

/** Paths that kubelet mounts into every container. */
const AUTOMOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount';
const MAX_PORT_NAME = 15;

/** findBrokenReferences returns a line for every name, port, key or path in rendered objects that does not resolve. */
export function findBrokenReferences(children: readonly Child[], externals: Externals): readonly string[] {
  return [
    ...duplicates(children),
    ...bindings(children),
    ...services(children),
    ...routing(children),
    ...selectors(children),
    ...workloadsOf(children).flatMap((workload) => [
      ...ports(workload),
      ...volumes(workload, children, externals),
      ...files(workload, children),
    ]),
  ];
}

const namesOf = (objects: readonly { readonly metadata?: { readonly name?: string | undefined } | undefined }[]) =>
  objects.map(({ metadata }) => metadata?.name ?? '');

function unless(holds: boolean, problem: string): readonly string[] {
  return holds ? [] : [problem];
}

function duplicates(children: readonly Child[]): readonly string[] {
  const ids = children.map(({ resource, object: { metadata } }) =>
    [resource.group, resource.kind, metadata?.namespace, metadata?.name].join('/'),
  );
  return ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} is rendered twice`);
}

function bindings(children: readonly Child[]): readonly string[] {
  const accounts = namesOf(objectsOf(children, ServiceAccount));
  const check = (
    { metadata, roleRef, subjects = [] }: ClusterRoleBinding | RoleBinding,
    roles: readonly string[],
  ): readonly string[] => [
    ...unless(roles.includes(roleRef.name), `binding ${metadata?.name} names the missing role ${roleRef.name}`),
    ...subjects.flatMap(({ name, namespace }) =>
      unless(
        namespace === ROUTER.namespace || accounts.includes(name),
        `binding ${metadata?.name} names the missing ServiceAccount ${name}`,
      ),
    ),
  ];
  const users = objectsOf(children, SecurityContextConstraints).flatMap((each) => each.users);
  return [
    ...objectsOf(children, ClusterRoleBinding).flatMap((each) =>
      check(each, namesOf(objectsOf(children, ClusterRole))),
    ),
    ...objectsOf(children, RoleBinding).flatMap((each) => check(each, namesOf(objectsOf(children, Role)))),
    ...users.flatMap((user) =>
      unless(accounts.includes(user.split(':').at(-1) ?? ''), `constraints name the missing user ${user}`),
    ),
    ...workloadsOf(children).flatMap(({ name, template }) =>
      unless(
        accounts.includes(template.spec?.serviceAccountName ?? ''),
        `workload ${name} names the missing ServiceAccount ${template.spec?.serviceAccountName}`,
      ),
    ),
  ];
}

function selects(selector: Readonly<Record<string, string>>, { template }: Workload): boolean {
  const labels = template.metadata?.labels ?? {};
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** Services, budgets, identities and workloads select the pods of exactly one workload. */
function selectors(children: readonly Child[]): readonly string[] {
  const workloads = workloadsOf(children);
  const all: readonly (readonly [string, Readonly<Record<string, string>> | undefined])[] = [
    ...objectsOf(children, Service).map(({ metadata, spec }) => [`Service ${metadata?.name}`, spec?.selector] as const),
    ...objectsOf(children, PodDisruptionBudget).map(
      ({ metadata, spec }) => [`PodDisruptionBudget ${metadata?.name}`, spec?.selector?.matchLabels] as const,
    ),
    ...objectsOf(children, ClusterSPIFFEID).flatMap(({ metadata, spec }) =>
      spec.podSelector ? [[`ClusterSPIFFEID ${metadata?.name}`, spec.podSelector.matchLabels] as const] : [],
    ),
    ...workloads.map(({ name, selector }) => [`workload ${name}`, selector] as const),
  ];
  return [
    ...all.flatMap(([name, selector = {}]) => {
      const count = workloads.filter((each) => selects(selector, each)).length;
      return unless(count === 1, `${name} selects the pods of ${count} workloads`);
    }),
    ...workloads.flatMap((each) =>
      unless(selects(each.selector, each), `workload ${each.name} does not select its own pods`),
    ),
  ];
}

const containerPorts = ({ template }: Workload) =>
  (template.spec?.containers ?? []).flatMap((container) => container.ports ?? []);

function services(children: readonly Child[]): readonly string[] {
  const known = namesOf(objectsOf(children, Service));
  return [
    ...objectsOf(children, Service).flatMap(({ metadata, spec }) => {
      const workload = workloadsOf(children).find((each) => selects(spec?.selector ?? {}, each));
      const available = workload ? containerPorts(workload).map(({ name }) => name) : [];
      return (spec?.ports ?? []).flatMap(({ targetPort }) =>
        unless(
          available.includes(String(targetPort)),
          `Service ${metadata?.name} names the missing port ${String(targetPort)}`,
        ),
      );
    }),
    ...objectsOf(children, StatefulSet).flatMap(({ spec }) =>
      unless(known.includes(spec?.serviceName ?? ''), `a StatefulSet names the missing Service ${spec?.serviceName}`),
    ),
  ];
}

function routing(children: readonly Child[]): readonly string[] {
  const portOf = (service: string | undefined, port: string | number | undefined): readonly string[] => {
    const found = objectsOf(children, Service).find(({ metadata }) => metadata?.name === service);
    const matches = found?.spec?.ports?.some((each) => each.name === port || each.port === port) ?? false;
    return unless(matches, `port ${port} of Service ${service} is missing`);
  };
  return [
    ...objectsOf(children, Route).flatMap(({ spec }) => portOf(spec.to.name, spec.port.targetPort)),
    ...objectsOf(children, Route).flatMap(({ metadata, spec }) => readable(children, metadata?.name, spec.tls)),
    ...[...objectsOf(children, TLSRoute), ...objectsOf(children, HTTPRoute)].flatMap(({ spec }) =>
      spec.rules.flatMap(({ backendRefs }) => backendRefs.flatMap(({ name, port }) => portOf(name, port))),
    ),
    ...objectsOf(children, Ingress).flatMap(({ spec }) =>
      (spec?.rules ?? [])
        .flatMap(({ http }) => http?.paths ?? [])
        .flatMap(({ backend: { service } }) => portOf(service?.name, service?.port?.name)),
    ),
    ...objectsOf(children, ValidatingWebhookConfiguration).flatMap(({ webhooks = [] }) =>
      webhooks.flatMap(({ clientConfig: { service } }) => portOf(service?.name, service?.port ?? 443)),
    ),
  ];
}

/** OpenShift's router may read the certificate of a Route. */
function readable(
  children: readonly Child[],
  route: string | undefined,
  { externalCertificate }: Route['spec']['tls'],
): readonly string[] {
  if (!externalCertificate) return [];
  const roles = objectsOf(children, Role).filter(({ rules = [] }) =>
    rules.some(({ resourceNames = [] }) => resourceNames.includes(externalCertificate.name)),
  );
  const bound = objectsOf(children, RoleBinding).filter(({ subjects = [] }) =>
    subjects.some(({ namespace }) => namespace === ROUTER.namespace),
  );
  const names = bound.map(({ roleRef }) => roleRef.name);
  return unless(
    roles.some(({ metadata }) => names.includes(metadata?.name ?? '')),
    `the router cannot read the certificate of Route ${route}`,
  );
}

function ports(workload: Workload): readonly string[] {
  const all = containerPorts(workload);
  const names = all.map(({ name = '' }) => name);
  const numbers = all.map(({ containerPort }) => containerPort);
  const probes = (workload.template.spec?.containers ?? []).flatMap(({ livenessProbe, readinessProbe, ports = [] }) =>
    [livenessProbe, readinessProbe].flatMap((probe) => {
      const port = probe?.httpGet?.port;
      return port === undefined
        ? []
        : unless(
            ports.some(({ name }) => name === port),
            `a probe of ${workload.name} names the missing port ${port}`,
          );
    }),
  );
  return [
    ...unless(new Set(names).size === names.length, `workload ${workload.name} has a name of a port twice`),
    ...unless(new Set(numbers).size === numbers.length, `workload ${workload.name} has a port twice`),
    ...names.flatMap((name) => unless(name !== '' && name.length <= MAX_PORT_NAME, `"${name}" cannot name a port`)),
    ...probes,
  ];
}

function claimsOf(children: readonly Child[], workload: string): readonly string[] {
  const set = objectsOf(children, StatefulSet).find(({ metadata }) => metadata?.name === workload);
  return namesOf(set?.spec?.volumeClaimTemplates ?? []);
}

function volumes(workload: Workload, children: readonly Child[], externals: Externals): readonly string[] {
  const { volumes = [], containers = [], initContainers = [] } = workload.template.spec ?? {};
  const known = [...volumes.map(({ name }) => name), ...claimsOf(children, workload.name)];
  const mounts = [...containers, ...initContainers].flatMap(({ volumeMounts = [] }) => volumeMounts);
  const mounted = mounts.map(({ name }) => name);
  const configMaps = [...namesOf(objectsOf(children, ConfigMap)), ...externals.configMaps];
  return [
    ...unless(new Set(known).size === known.length, `workload ${workload.name} has a volume twice`),
    ...mounted.flatMap((name) => unless(known.includes(name), `${workload.name} mounts the missing volume ${name}`)),
    ...known.flatMap((name) => unless(mounted.includes(name), `${workload.name} does not mount the volume ${name}`)),
    ...volumes.flatMap(({ configMap }) =>
      configMap
        ? unless(configMaps.includes(configMap.name ?? ''), `${workload.name} names the ConfigMap ${configMap.name}`)
        : [],
    ),
    ...containers.flatMap(({ volumeMounts = [] }) => {
      const paths = volumeMounts.map(({ mountPath }) => mountPath);
      return unless(new Set(paths).size === paths.length, `${workload.name} mounts two volumes at one path`);
    }),
  ];
}

function configPath({ args = [] }: Container): string | undefined {
  const inline = args.find((each) => each.startsWith('--config='))?.slice('--config='.length);
  const index = args.indexOf('-config');
  return inline ?? (index < 0 ? undefined : args[index + 1]);
}

/** The file that a container is started with exists, and so do the folders and ports that it names. */
function files(workload: Workload, children: readonly Child[]): readonly string[] {
  const { containers = [], volumes = [] } = workload.template.spec ?? {};
  return containers.flatMap((container) => {
    const path = configPath(container);
    if (path === undefined) return [];
    const mount = container.volumeMounts?.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
    const volume = volumes.find(({ name }) => name === mount?.name);
    const name = volume?.configMap?.name;
    const configMap = objectsOf(children, ConfigMap).find(({ metadata }) => metadata?.name === name);
    const text = configMap?.data?.[path.slice((mount?.mountPath.length ?? 0) + 1)];
    if (text === undefined) return [`${container.name} is started with ${path}, which no ConfigMap has`];
    return content(container, JSON.parse(text) as unknown);
  });
}

function content(container: Container, config: unknown): readonly string[] {
  const folders = (container.volumeMounts ?? []).map(({ mountPath }) => mountPath);
  const numbers = (container.ports ?? []).map(({ containerPort }) => String(containerPort));
  const inFolder = (path: string): boolean =>
    [...folders, AUTOMOUNTED].some((folder) => path === folder || path.startsWith(`${folder}/`));
  return members(config).flatMap(([key, value]) => {
    const text = String(value);
    if (/^(data_dir|.*_path|spireServerSocketPath)$/.test(key) && !/^(live|ready)_path$/.test(key)) {
      return unless(inFolder(text), `${container.name} has no volume for ${key} ${text}`);
    }
    if (/^(bind_port|port|addr|bindAddress|healthProbeBindAddress)$/.test(key)) {
      const port = text.slice(text.lastIndexOf(':') + 1);
      return unless(numbers.includes(port), `${container.name} does not declare the port ${port}`);
    }
    return [];
  });
}

/** All members with a plain value, at any depth. */
function members(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]: [string, unknown]) =>
    typeof member === 'object' ? members(member) : [[key, member] as const],
  );
}
