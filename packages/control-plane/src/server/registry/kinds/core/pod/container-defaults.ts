import type { Container, EnvVar, HTTPGetAction, Probe } from '@bowline/kubernetes';
import type { PartialObject } from '../../shared/partial-object.ts';
import { dropEmpty, dropFalse, dropZero } from '../../shared/zero-values.ts';

/** containerDefaults sets defaults for a container of any type. */
export function containerDefaults(container: PartialObject<Container>): void {
  container.imagePullPolicy ||= pullsAlways(container.image ?? '') ? 'Always' : 'IfNotPresent';
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  container.resources ??= {};
  dropFalse(container, 'stdin', 'stdinOnce', 'tty');
  dropEmpty(container, 'workingDir', 'image');
  for (const port of container.ports ?? []) {
    port.protocol ||= 'TCP';
    dropEmpty(port, 'name', 'hostIP');
    dropZero(port, 'hostPort');
  }
  for (const mount of container.volumeMounts ?? []) {
    dropFalse(mount, 'readOnly');
    dropEmpty(mount, 'subPath', 'subPathExpr');
  }
  container.env?.forEach(envDefaults);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe) probeDefaults(probe);
  }
  const { postStart, preStop } = container.lifecycle ?? {};
  for (const hook of [postStart, preStop]) if (hook?.httpGet) httpDefaults(hook.httpGet);
}

function envDefaults(variable: PartialObject<EnvVar>): void {
  dropEmpty(variable, 'value');
  const { fieldRef, resourceFieldRef, fileKeyRef } = variable.valueFrom ?? {};
  if (fieldRef) fieldRef.apiVersion ||= 'v1';
  if (resourceFieldRef) resourceFieldRef.divisor ??= '0';
  if (fileKeyRef) fileKeyRef.optional ??= false;
}

function probeDefaults(probe: PartialObject<Probe>): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  dropZero(probe, 'initialDelaySeconds');
  if (probe.httpGet) httpDefaults(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function httpDefaults(action: PartialObject<HTTPGetAction>): void {
  action.path ||= '/';
  action.scheme ||= 'HTTP';
}

/** pullsAlways reports whether an image may change: it has the tag `latest`, or neither a tag nor a digest. */
export function pullsAlways(image: string): boolean {
  const match =
    /^(?:[^/]+(?::\d+)?\/)?[a-z0-9._/-]+(?::([\w][\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*:[0-9a-fA-F]{32,})?$/.exec(
      image,
    );
  if (!match) return false;
  const [, tag, digest] = match;
  return tag === undefined ? digest === undefined : tag === 'latest';
}
