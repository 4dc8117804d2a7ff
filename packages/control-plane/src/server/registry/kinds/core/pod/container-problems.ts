import type { Container, ContainerPort, PodSpec, VolumeMount } from '@bowline/kubernetes';
import { dnsLabelProblems, type FieldProblem } from '@bowline/machinery';
import type { PartialObject } from '../../shared/partial-object.ts';
import { portNameProblems } from '../../shared/port-names.ts';
import {
  duplicate,
  forbidden,
  invalid,
  invalids,
  notSupported,
  oneOf,
  outside,
  required,
} from '../../shared/problems.ts';
import { envFromProblems, envProblems } from './env-problems.ts';
import { lifecycleProblems, probeProblems } from './probe-problems.ts';
import { resourceProblems } from './resource-problems.ts';
import { securityContextProblems } from './security-problems.ts';

type Problems = FieldProblem[];

/** ContainerContext holds the parts of a pod that its containers depend on. */
interface ContainerContext {
  readonly spec: PartialObject<PodSpec>;
  /** Names of the volumes that can be mounted. */
  readonly volumes: ReadonlySet<string>;
  /** Whether it is a template, whose pods get their missing host ports when they are created. */
  readonly isTemplate: boolean;
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MAX_PORT = 65_535;

/** containerListProblems validates the containers and init containers of a pod. */
export function containerListProblems(path: string, around: ContainerContext): Problems {
  const { spec } = around;
  const { containers = [], initContainers = [] } = spec;
  const problems: Problems = [];
  const names = new Set<string>();
  const check = (at: string, container: PartialObject<Container>, isInit: boolean): void => {
    problems.push(...commonProblems(at, container, around));
    const { name = '' } = container;
    if (name !== '' && names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
    problems.push(...(isInit ? initOnlyProblems(at, container) : runningProblems(at, container)));
  };
  if (containers.length === 0) problems.push(required(`${path}.containers`));
  for (const [index, container] of containers.entries()) check(`${path}.containers[${index}]`, container, false);
  problems.push(...hostPortConflicts(`${path}.containers`, containers));
  for (const [index, container] of initContainers.entries()) check(`${path}.initContainers[${index}]`, container, true);
  return problems;
}

function commonProblems(at: string, container: PartialObject<Container>, around: ContainerContext): Problems {
  const { name, image = '', terminationMessagePolicy, imagePullPolicy } = container;
  const problems: Problems = [];
  if (!name) problems.push(required(`${at}.name`));
  else problems.push(...invalids(`${at}.name`, name, dnsLabelProblems(name)));
  if (image === '') problems.push(required(`${at}.image`));
  else if (image.trim() !== image) {
    problems.push(invalid(`${at}.image`, image, 'must not have leading or trailing whitespace'));
  }
  if (terminationMessagePolicy && !['File', 'FallbackToLogsOnError'].includes(terminationMessagePolicy)) {
    const known = ['File', 'FallbackToLogsOnError'];
    problems.push(notSupported(`${at}.terminationMessagePolicy`, terminationMessagePolicy, known));
  }
  problems.push(
    ...portProblems(`${at}.ports`, container.ports ?? [], around),
    ...envProblems(`${at}.env`, container.env ?? []),
    ...envFromProblems(`${at}.envFrom`, container.envFrom ?? []),
    ...mountProblems(`${at}.volumeMounts`, container.volumeMounts ?? [], around.volumes, container),
    ...oneOf(`${at}.imagePullPolicy`, imagePullPolicy, PULL_POLICIES),
    ...resourceProblems(`${at}.resources`, container.resources ?? {}),
    ...securityContextProblems(`${at}.securityContext`, container.securityContext, around.spec),
  );
  return problems;
}

/** Validates the fields of containers that run until the pod ends. */
function runningProblems(at: string, container: PartialObject<Container>): Problems {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe, restartPolicy } = container;
  const problems: Problems = [];
  if (lifecycle) problems.push(...lifecycleProblems(`${at}.lifecycle`, lifecycle));
  if (livenessProbe) problems.push(...probeProblems(`${at}.livenessProbe`, livenessProbe, 'once'));
  if (readinessProbe) problems.push(...probeProblems(`${at}.readinessProbe`, readinessProbe, 'often'));
  if (startupProbe) problems.push(...probeProblems(`${at}.startupProbe`, startupProbe, 'once'));
  if (restartPolicy && !['Always', 'Never', 'OnFailure'].includes(restartPolicy)) {
    problems.push(notSupported(`${at}.restartPolicy`, restartPolicy, ['Always', 'Never', 'OnFailure']));
  }
  return problems;
}

/**
 * Rejects fields that init containers may not have, because they end before other containers start. Init containers
 * that are restarted are sidecars, and keep running.
 */
function initOnlyProblems(at: string, container: PartialObject<Container>): Problems {
  const { restartPolicy, lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  if (restartPolicy === 'Always') return runningProblems(at, container);
  const problems: Problems = [];
  if (restartPolicy && !['Never', 'OnFailure'].includes(restartPolicy)) {
    problems.push(notSupported(`${at}.restartPolicy`, restartPolicy, ['Always', 'Never', 'OnFailure']));
  }
  const why = 'may not be set for init containers without restartPolicy=Always';
  if (lifecycle) problems.push(forbidden(`${at}.lifecycle`, why));
  if (livenessProbe) problems.push(forbidden(`${at}.livenessProbe`, why));
  if (readinessProbe) problems.push(forbidden(`${at}.readinessProbe`, why));
  if (startupProbe) problems.push(forbidden(`${at}.startupProbe`, why));
  return problems;
}

function portProblems(
  path: string,
  ports: readonly PartialObject<ContainerPort>[],
  { spec, isTemplate }: ContainerContext,
): Problems {
  const problems: Problems = [];
  const names = new Set<string>();
  ports.forEach(({ name, containerPort = 0, hostPort, protocol }, index) => {
    const at = `${path}[${index}]`;
    if (name) {
      const wrong = portNameProblems(name);
      if (wrong.length > 0) problems.push(...invalids(`${at}.name`, name, wrong));
      else if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
      else names.add(name);
    }
    if (containerPort === 0) problems.push(required(`${at}.containerPort`));
    else problems.push(...outside(`${at}.containerPort`, containerPort, 1, MAX_PORT));
    if (hostPort !== undefined) problems.push(...outside(`${at}.hostPort`, hostPort, 1, MAX_PORT));
    if (spec.hostNetwork && hostPort !== containerPort && !(isTemplate && !hostPort)) {
      problems.push(invalid(`${at}.hostPort`, hostPort ?? 0, 'must match `containerPort` when `hostNetwork` is true'));
    }
    problems.push(...oneOf(`${at}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']));
  });
  return problems;
}

/** Two containers of a pod cannot use the same port of its host. */
function hostPortConflicts(path: string, containers: readonly PartialObject<Container>[]): Problems {
  const problems: Problems = [];
  const taken = new Set<string>();
  containers.forEach(({ ports = [] }, index) => {
    ports.forEach(({ hostPort, hostIP = '', protocol }, position) => {
      if (!hostPort) return;
      const place = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(place)) problems.push(duplicate(`${path}[${index}].ports[${position}].hostPort`, place));
      taken.add(place);
    });
  });
  return problems;
}

function mountProblems(
  path: string,
  mounts: readonly PartialObject<VolumeMount>[],
  volumes: ReadonlySet<string>,
  { volumeDevices = [] }: PartialObject<Container>,
): Problems {
  const problems: Problems = [];
  const paths = new Set<string>();
  mounts.forEach((mount, index) => {
    const { name = '', mountPath = '', subPath = '', subPathExpr = '', mountPropagation } = mount;
    const at = `${path}[${index}]`;
    if (name === '') problems.push(required(`${at}.name`));
    if (!volumes.has(name)) {
      problems.push({
        field: `${at}.name`,
        reason: 'FieldValueNotFound',
        message: `Not found: ${JSON.stringify(name)}`,
      });
    }
    if (mountPath === '') problems.push(required(`${at}.mountPath`));
    if (paths.has(mountPath)) problems.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'));
    paths.add(mountPath);
    if (volumeDevices.some((device) => device.name === name)) {
      problems.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    }
    if (volumeDevices.some((device) => device.devicePath === mountPath)) {
      problems.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    }
    if (subPath !== '') problems.push(...localPathProblems(`${path}.subPath`, subPath));
    if (subPathExpr !== '') {
      if (subPath !== '')
        problems.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
      problems.push(...localPathProblems(`${path}.subPathExpr`, subPathExpr));
    }
    if (mountPropagation && !['Bidirectional', 'HostToContainer', 'None'].includes(mountPropagation)) {
      const known = ['Bidirectional', 'HostToContainer', 'None'];
      problems.push(notSupported(`${path}.mountPropagation`, mountPropagation, known));
    }
  });
  return problems;
}

/** localPathProblems validates a path that must stay below its base directory. */
export function localPathProblems(field: string, path: string): Problems {
  const problems: Problems = [];
  if (path.startsWith('/')) problems.push(invalid(field, path, 'must be a relative path'));
  if (path.split('/').includes('..')) problems.push(invalid(field, path, "must not contain '..'"));
  return problems;
}
