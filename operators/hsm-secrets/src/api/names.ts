import { hash } from 'node:crypto';
import type { ObjectKey, ObjectMeta } from '@bowline/kubernetes';
import { MANAGED_BY } from '@bowline/runtime/install';

/**
 * OPERATOR is the identity of the operator. Its Lease, field managers and other names are derived from it. They are
 * API.
 */
export const OPERATOR = { name: 'hsm-secrets', domain: 'bowline.dev' } as const;

/** GROUP is the API group of the kinds; it prefixes the labels, the annotations and the finalizer. They are API. */
export const GROUP = 'hsm.j5t.io';
/** VERSION is the version of all kinds. */
export const VERSION = 'v1alpha1';

/** MAX_DEVICE_NAME_LENGTH leaves room for the suffixes of the names of created objects. */
export const MAX_DEVICE_NAME_LENGTH = 40;

/** REPORT_ANNOTATION is the annotation in which a discovery pod reports the devices of its node, as JSON. */
export const REPORT_ANNOTATION: string = `${GROUP}/device-report`;

/**
 * TEST_MODE_ANNOTATION, set to "true" on an HSMDevice, runs discovery and agents without access to the node: no host
 * paths, no root, no device plugin.
 */
export const TEST_MODE_ANNOTATION: string = `${GROUP}/test-mode`;

/** isTestMode reports whether an HSMDevice runs without access to the node. */
export function isTestMode(metadata: ObjectMeta | undefined): boolean {
  return metadata?.annotations?.[TEST_MODE_ANNOTATION] === 'true';
}

/** AGENT_PORT is the port on which agents serve the manager. */
export const AGENT_PORT = 9090;

/** agentServerName returns the name in the certificate of the agents of an HSMDevice, whatever their addresses are. */
export function agentServerName({ namespace, name }: ObjectKey): string {
  return `${name}.${namespace}.agent.hsm-secrets`;
}

/** MANAGER_NAME is the name in the client certificate of the manager, the only one that agents accept. */
export const MANAGER_NAME = 'manager.hsm-secrets';

/** SERIAL_ANNOTATION, on the pods of agents, has the serial number of the device, which may be no label value. */
export const SERIAL_ANNOTATION: string = `${GROUP}/serial-number`;

/** DEVICE_PATH_ANNOTATION, on the pods of agents, has the path of the device when the pod was created. */
export const DEVICE_PATH_ANNOTATION: string = `${GROUP}/device-path`;

/** LABELS are the labels of created objects. They are API. */
export const LABELS = {
  name: 'app.kubernetes.io/name',
  component: 'app.kubernetes.io/component',
  managedBy: MANAGED_BY,
  /** The name of the HSMDevice. */
  device: `${GROUP}/device`,
  /** On agents: the name of the Deployment, which is unique for each device. */
  agent: `${GROUP}/agent`,
  /** On pods: the hash of the template that they were created from. */
  templateHash: `${GROUP}/template-hash`,
} as const;

/** Component is the part of the operator that an object belongs to. */
export type Component = 'pool' | 'discovery' | 'agent';

/** MANAGER is the value of the label `managedBy`. */
export const MANAGER = 'bowline-hsm-secrets';

/** DISCOVERY_SELECTOR selects the pods that may carry reports. */
export const DISCOVERY_SELECTOR: string = `${LABELS.component}=discovery`;

/** labelsOf returns the labels of the objects that are created for an HSMDevice. */
export function labelsOf(component: Component, device: string): Readonly<Record<string, string>> {
  return {
    [LABELS.name]: 'hsm-secrets-operator',
    [LABELS.component]: component,
    [LABELS.device]: device,
    [LABELS.managedBy]: MANAGER,
  };
}

/** poolName returns the name of the HSMPool of an HSMDevice. */
export function poolName(device: string): string {
  return `${device}-pool`;
}

/** discoveryName returns the name of the DaemonSet, ServiceAccount and RoleBinding of discovery. */
export function discoveryName(device: string): string {
  return `${device}-discovery`;
}

/** agentAccountName returns the name of the ServiceAccount and the NetworkPolicy of the agents of an HSMDevice. */
export function agentAccountName(device: string): string {
  return `${device}-agent`;
}

/** agentTlsName returns the name of the Secret with the certificate of the agents of an HSMDevice. */
export function agentTlsName(device: string): string {
  return `${device}-agent-tls`;
}

const MAX_LABEL_LENGTH = 63;

/** agentName returns the name of the Deployment of the agent of a physical device. */
export function agentName(device: string, serialNumber: string): string {
  return nameFrom(`hsm-agent-${device}-${serialNumber.toLowerCase()}`, /[^a-z0-9-]/g);
}

/** resourceName returns the extended resource that the device plugin offers for a physical device. */
export function resourceName(serialNumber: string): string {
  return `${GROUP}/${nameFrom(serialNumber, /[^A-Za-z0-9._-]/g)}`;
}

const HASH_DIGITS = 8;

/** nameFrom replaces invalid characters. A name that was changed or is too long gets a hash of the original. */
function nameFrom(text: string, invalid: RegExp): string {
  const trimmed = (name: string): string => name.replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  const replaced = trimmed(text.replace(invalid, '-'));
  if (replaced === text && text.length <= MAX_LABEL_LENGTH) return text;
  const start = trimmed(replaced.slice(0, MAX_LABEL_LENGTH - HASH_DIGITS - 1));
  return [start, hash('sha256', text, 'hex').slice(0, HASH_DIGITS)].filter(Boolean).join('-');
}
