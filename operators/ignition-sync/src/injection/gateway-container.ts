import type { Container, EnvVar, Pod, VolumeMount } from '@bowline/kubernetes';
import { POD_ANNOTATIONS } from '../api/names.ts';

/** GatewayContainer is the container that runs the gateway, and where it has its data. */
export interface GatewayContainer {
  readonly container: Container;
  /** The mount of its data volume. */
  readonly mount: VolumeMount;
  /** The variables of the container that the subPathExpr of the mount uses. */
  readonly env: readonly EnvVar[];
}

/** PodProblem says why a pod gets no agent, and how to fix it. */
export interface PodProblem {
  readonly message: string;
  /** Whether the gateway cannot have worked. Otherwise it runs, without an agent. */
  readonly isFault: boolean;
}

/** DATA_VOLUMES are the names of data volumes, in order, of pods without the annotation. */
export const DATA_VOLUMES = ['ignition-data', 'data'] as const;

/** OWN_VARIABLES are the variables of the agent, with the field of the pod that each has. */
export const OWN_VARIABLES: Readonly<Record<string, string>> = {
  POD_NAME: 'metadata.name',
  POD_NAMESPACE: 'metadata.namespace',
};

/** A use of a variable, or an escaped "$". */
const REFERENCE = /\$\$|\$\(([^)]*)\)/g;

/** findGateway returns the first container that mounts the data volume of the gateway, or why there is none. */
export function findGateway({ metadata, spec }: Pod): GatewayContainer | PodProblem {
  const annotated = metadata?.annotations?.[POD_ANNOTATIONS.dataVolume];
  const volumes = new Set(spec?.volumes?.map(({ name }) => name));
  const name = [...(annotated ? [annotated] : DATA_VOLUMES)].find((each) => volumes.has(each));
  if (name === undefined) return fault(missingVolume(annotated));
  for (const container of spec?.containers ?? []) {
    const mount = container.volumeMounts?.find((each) => each.name === name);
    if (mount === undefined) continue;
    const env = usedVariables(container, mount);
    return typeof env === 'string' ? { message: env, isFault: false } : { container, mount, env };
  }
  return fault(
    `no container mounts the data volume "${name}"; mount it where the gateway has its data, or name another volume in the annotation ${POD_ANNOTATIONS.dataVolume}`,
  );
}

function fault(message: string): PodProblem {
  return { message, isFault: true };
}

function missingVolume(annotated: string | undefined): string {
  return annotated
    ? `the annotation ${POD_ANNOTATIONS.dataVolume} names the volume "${annotated}", which the pod does not have; name the volume with the data folder of the gateway`
    : `the pod has no data volume: neither ${DATA_VOLUMES.map((each) => `"${each}"`).join(' nor ')}; name the volume with the data folder of the gateway in the annotation ${POD_ANNOTATIONS.dataVolume}`;
}

/** The agent needs the same folder of the volume, so it needs the variables that the kubelet expands. */
function usedVariables({ name, env = [] }: Container, { subPathExpr = '' }: VolumeMount): readonly EnvVar[] | string {
  const used = [...subPathExpr.matchAll(REFERENCE)].flatMap(([, variable]) =>
    variable === undefined ? [] : [variable],
  );
  const missing = used.find((variable) => !env.some((each) => each.name === variable));
  if (missing !== undefined) {
    return `the subPathExpr of the data volume uses the variable ${missing}, which is not in env of the container "${name}"; define it there, or use subPath`;
  }
  const copied = env.filter((each) => used.includes(each.name));
  const other = copied.find((each) => isOwnVariable(each) === false);
  return other === undefined
    ? copied
    : `the subPathExpr of the data volume uses the variable ${other.name}, which the agent needs for ${OWN_VARIABLES[other.name]}; rename the variable, or use subPath`;
}

/** isOwnVariable returns whether a variable is the same in the agent; undefined if the agent does not define it. */
function isOwnVariable({ name, valueFrom }: EnvVar): boolean | undefined {
  const own = OWN_VARIABLES[name];
  return own === undefined ? undefined : valueFrom?.fieldRef?.fieldPath === own;
}
