import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { PartialObject } from '../../shared/partial-object.ts';
import { portReferenceProblems } from '../../shared/port-names.ts';
import { forbidden, invalid, invalids, notNegative, oneOf, required } from '../../shared/problems.ts';

type Problems = FieldProblem[];
type Handler = PartialObject<LifecycleHandler & Pick<Probe, 'grpc'>>;

const NO_HANDLER = 'must specify a handler type';
const SECOND_HANDLER = 'may not specify more than 1 handler type';

/** probeProblems validates a probe. A probe that decides about restarts must have a success threshold of 1. */
export function probeProblems(at: string, probe: PartialObject<Probe>, succeeds: 'once' | 'often'): Problems {
  const { terminationGracePeriodSeconds: grace, successThreshold = 0 } = probe;
  const problems = handlerProblems(at, probe);
  for (const member of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    problems.push(...notNegative(`${at}.${member}`, probe[member]));
  }
  if (grace !== undefined && grace <= 0) {
    problems.push(invalid(`${at}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
  }
  if (succeeds === 'once' && successThreshold !== 1) {
    problems.push(invalid(`${at}.successThreshold`, successThreshold, 'must be 1'));
  }
  if (succeeds === 'often' && grace !== undefined) {
    problems.push(invalid(`${at}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'));
  }
  return problems;
}

/** lifecycleProblems validates lifecycle hooks. */
export function lifecycleProblems(at: string, { postStart, preStop }: PartialObject<Lifecycle>): Problems {
  return [
    ...(postStart ? handlerProblems(`${at}.postStart`, postStart) : []),
    ...(preStop ? handlerProblems(`${at}.preStop`, preStop) : []),
  ];
}

function handlerProblems(at: string, { exec, httpGet, tcpSocket, grpc, sleep }: Handler): Problems {
  const problems: Problems = [];
  let handlers = 0;
  const handler = (name: string, found: Problems): void => {
    if (handlers++ > 0) problems.push(forbidden(`${at}.${name}`, SECOND_HANDLER));
    else problems.push(...found);
  };
  if (exec) handler('exec', (exec.command ?? []).length === 0 ? [required(`${at}.exec.command`)] : []);
  if (httpGet) handler('httpGet', httpProblems(`${at}.httpGet`, httpGet));
  if (tcpSocket) {
    handler('tcpSocket', invalids(`${at}.tcpSocket.port`, tcpSocket.port ?? 0, portReferenceProblems(tcpSocket.port)));
  }
  if (grpc) handler('grpc', invalids(`${at}.grpc.port`, grpc.port ?? 0, portReferenceProblems(grpc.port)));
  if (sleep) handler('sleep', notNegative(`${at}.sleep`, sleep.seconds));
  return handlers === 0 ? [...problems, required(at, NO_HANDLER)] : problems;
}

function httpProblems(
  at: string,
  { path = '', port, scheme, httpHeaders = [] }: PartialObject<HTTPGetAction>,
): Problems {
  const problems: Problems = [];
  if (path === '') problems.push(required(`${at}.path`));
  problems.push(...invalids(`${at}.port`, port ?? 0, portReferenceProblems(port)));
  problems.push(...oneOf(`${at}.scheme`, scheme, ['HTTP', 'HTTPS']));
  for (const { name = '' } of httpHeaders) {
    if (/^[-A-Za-z0-9]+$/.test(name)) continue;
    const rule =
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
    problems.push(invalid(`${at}.httpHeaders`, name, rule));
  }
  return problems;
}
