import type { Node, Pod } from '@bowline/kubernetes';
import { type FieldProblem, parseTime } from '@bowline/machinery';
import type { ApiResponse } from '../../http/api-request.ts';
import { badRequest, internalError, invalid, notFound, StatusError } from '../../status/api-status.ts';
import { keyIn, objectOf } from '../../storage/stored.ts';
import { type RequestContext, resourceName } from '../context.ts';

const TEXT = { 'content-type': 'text/plain' };
const KUBELET_PORT = 10_250;
/** The order in which a node's addresses are tried, as in the API server. */
const ADDRESSES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
/** The query parameters that are passed to the kubelet. */
const PASSED_ON = ['follow', 'previous', 'timestamps', 'sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes'];
const MAX_ERROR_CHARACTERS = 4_096;

/** readPodLog requests the log of a container from the kubelet of the Pod's node. */
export async function readPodLog(context: RequestContext): Promise<ApiResponse> {
  const { storage, resource, info, query, request, requestKubelet } = context;
  const problems = optionProblems(query);
  const stored = storage.get(resource.collection, keyIn(info.namespace, info.name));
  if (problems.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, info.name, problems);
  if (!stored) throw notFound(resourceName(context), info.name);
  // The collection holds only Pods.
  const pod = objectOf(stored) as Pod;
  const container = containerOf(pod, query.get('container') ?? '');
  const { nodeName = '' } = pod.spec ?? {};
  // The Pod does not run yet, so it has no log.
  if (nodeName === '') return { status: 200, headers: TEXT, body: '' };
  const node = storage.get('nodes', keyIn('', nodeName));
  // The API server names the resource of the request, although it is a node that is missing.
  if (!node) throw notFound(resourceName(context), nodeName);
  const path = [info.namespace, info.name, container].map(encodeURIComponent).join('/');
  const url = kubeletUrl(objectOf(node), nodeName, `/containerLogs/${path}`);
  for (const name of PASSED_ON) {
    const value = query.get(name);
    if (value !== null) url.searchParams.set(name, value);
  }
  let response: Awaited<ReturnType<typeof requestKubelet>>;
  try {
    response = await requestKubelet(url, request.signal);
  } catch (error) {
    throw internalError(`Get ${JSON.stringify(url.href)}: ${(error as Error).message}`);
  }
  if (response.status < 400) return { status: 200, headers: TEXT, body: response.body };
  throw new StatusError(response.status, undefined, await beginningOf(response.body));
}

function optionProblems(query: URLSearchParams): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const atLeast = (field: string, least: number, detail: string): void => {
    const text = query.get(field);
    if (text === null) return;
    const value = Number(text);
    if (!Number.isInteger(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
    if (value < least)
      problems.push({ field, reason: 'FieldValueInvalid', message: `Invalid value: ${value}: ${detail}` });
  };
  atLeast('tailLines', 0, 'must be greater than or equal to 0');
  atLeast('limitBytes', 1, 'must be greater than 0');
  const since = query.get('sinceTime');
  if (since !== null && query.has('sinceSeconds')) {
    const message = 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified';
    problems.push({ field: '[]', reason: 'FieldValueForbidden', message });
  } else atLeast('sinceSeconds', 1, 'must be greater than 0');
  if (since !== null) checkTime(since);
  return problems;
}

function checkTime(text: string): void {
  try {
    parseTime(text);
  } catch {
    const found = JSON.stringify(text);
    throw badRequest(`parsing time ${found} as "2006-01-02T15:04:05Z07:00": cannot parse ${found} as "2006"`);
  }
}

/** containerOf returns the container whose log is requested: the only one, if none is named. */
function containerOf({ metadata, spec }: Pod, requested: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  const names = containers.map(({ name }) => name);
  const [only] = names;
  if (requested !== '') {
    if ([...names, ...[...initContainers, ...ephemeralContainers].map(({ name }) => name)].includes(requested))
      return requested;
    throw badRequest(`container ${requested} is not valid for pod ${metadata?.name}`);
  }
  if (names.length === 1 && only !== undefined) return only;
  const all = [...initContainers.map(({ name }) => name), ...names];
  const choice = all.length > 0 ? `, choose one of: [${all.join(' ')}]` : '';
  throw badRequest(`a container name must be specified for pod ${metadata?.name}${choice}`);
}

function kubeletUrl({ status }: Node, name: string, path: string): URL {
  const { addresses = [], daemonEndpoints } = status ?? {};
  const port = daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT;
  for (const wanted of ADDRESSES) {
    const found = addresses.find(({ type }) => type === wanted)?.address;
    const url = `https://${found?.includes(':') ? `[${found}]` : found}:${port}${path}`;
    if (found && URL.canParse(url)) return new URL(url);
  }
  throw internalError(`no preferred addresses found for node ${JSON.stringify(name)}; known addresses: []`);
}

async function beginningOf(body: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk;
    if (text.length > MAX_ERROR_CHARACTERS) break;
  }
  return text.slice(0, MAX_ERROR_CHARACTERS).trim() || 'the kubelet returned no error message';
}
