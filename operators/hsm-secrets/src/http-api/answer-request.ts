import type { IncomingMessage } from 'node:http';
import { keyString } from '@bowline/kubernetes';
import { dnsLabelProblems, dnsSubdomainProblems } from '@bowline/machinery';
import type { AccessDecision } from '@bowline/runtime/access';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { GROUP, poolName } from '../api/names.ts';
import { type ApiResult, type ApiTools, AUDIENCE } from './api-call.ts';
import { ApiProblem, invalid, notLeader } from './api-problem.ts';
import { poolDevices } from './pool-devices.ts';
import { readBody } from './read-body.ts';
import { HEALTH, type MatchedRoute, matchRoute, type Route } from './routes.ts';

interface DeviceKey {
  readonly namespace: string;
  readonly name: string;
}

/** AnswerOptions configures how long a request is worked on. */
export interface AnswerOptions {
  /** Aborted when the server stops. */
  readonly stopped: AbortSignal;
  /** Aborted when the caller is gone. A write continues: half of the devices would have it. */
  readonly gone: AbortSignal;
}

/** answerRequest checks the token and the permission of a request, and answers it. It rejects with what `problemOf` knows. */
export async function answerRequest(
  request: IncomingMessage,
  tools: ApiTools,
  { stopped, gone }: AnswerOptions,
): Promise<ApiResult> {
  const match = matchRoute(request.method ?? '', request.url ?? '');
  if (match === HEALTH) return { message: 'ok', data: undefined };
  const { route, path, query } = match;
  const { authorization } = request.headers;
  if (authorization === undefined)
    throw new ApiProblem(401, 'missing_auth', `send a token for the audience ${AUDIENCE} as "Authorization: Bearer"`);
  const { key, user } = await authorize(authorization, match, tools);
  if (route.leaderOnly && !tools.isLeader()) throw notLeader();
  const either = AbortSignal.any([stopped, gone]);
  const body = route.hasBody ? await readBody(request, { clock: tools.clock, signal: either }) : {};
  // A signal of its own: many listeners on a shared one look like a leak.
  const signal = request.method === 'GET' ? either : AbortSignal.any([stopped]);
  const device = await tools.client.find(HSMDevice, key, { signal });
  if (!device) throw missingDevice(key);
  const ofPool = { ...key, name: poolName(key.name) };
  const pool = await tools.client.find(HSMPool, ofPool, { signal });
  const devices = poolDevices(device, pool, tools.agents.agentsOf(key));
  const about = { device, deviceKey: keyString(key), pool, poolKey: keyString(ofPool), devices };
  return await route.run({ authorization, user, ...about, path, query, body, signal }, tools);
}

interface Authorized {
  readonly key: DeviceKey;
  readonly user: string;
}

/** authorize returns the HSMDevice of a request and its caller, if the caller may do what it requests. */
async function authorize(authorization: string, match: MatchedRoute, tools: ApiTools): Promise<Authorized> {
  const { route, query } = match;
  const given = query.get('device');
  const question = questionOf(route);
  if (given === undefined) {
    // The caller must be known before anything is looked up for it.
    requireUser(await tools.access.decide(authorization, question));
  }
  const key = given === undefined ? await onlyDevice(tools) : deviceIn(given);
  const asked = { ...question, ...key };
  const decision = await tools.access.decide(authorization, asked);
  const user = requireUser(decision);
  if (decision.verdict === 'allowed') return { key, user };
  const resource = route.part === undefined ? 'hsmdevices' : `hsmdevices/${route.part}`;
  const message = `${user} may not ${route.verb} ${resource} ${keyString(key)}; allow it with a Role for ${resource} of the group ${GROUP}`;
  throw new ApiProblem(403, 'forbidden', message, { details: asked });
}

function questionOf({ verb, part }: Route) {
  return { verb, group: GROUP, resource: 'hsmdevices', ...(part === undefined ? {} : { subresource: part }) };
}

function requireUser(decision: AccessDecision): string {
  if (decision.verdict !== 'unauthenticated') return decision.user.user;
  const message = `the token is not valid, has expired or is not for the audience ${AUDIENCE}; get one with kubectl create token ACCOUNT --audience ${AUDIENCE}`;
  throw new ApiProblem(401, 'invalid_token', message);
}

/** onlyDevice returns the only HSMDevice of the cluster. It names none: the caller may not be allowed to know them. */
async function onlyDevice({ client }: ApiTools): Promise<DeviceKey> {
  const { items } = await client.list(HSMDevice, { metadataOnly: true });
  const [only, other] = items;
  if (!only) throw invalid('there is no HSMDevice; create one');
  if (other) throw invalid('there are several HSMDevices; choose one with ?device=namespace/name');
  return { namespace: only.metadata?.namespace ?? '', name: only.metadata?.name ?? '' };
}

function deviceIn(text: string): DeviceKey {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (rest.length > 0 || dnsLabelProblems(namespace).length > 0 || dnsSubdomainProblems(name).length > 0)
    throw invalid('the query parameter device must be the namespace/name of an HSMDevice');
  return { namespace, name };
}

function missingDevice(key: DeviceKey): ApiProblem {
  const message = `the HSMDevice ${keyString(key)} does not exist; choose another with ?device=namespace/name`;
  return new ApiProblem(404, 'validation_failed', message);
}
