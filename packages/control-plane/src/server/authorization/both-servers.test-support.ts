import { request } from 'node:https';
import type { KubeconfigDocument } from '../../kubeconfig.ts';
import { type Cluster, cluster } from '../../testing/cluster.ts';
import { waitFor } from '../../testing/wait-for.ts';
import {
  ADMIN,
  type GuardedOptions,
  type GuardedResponse,
  type GuardedServer,
  type Requester,
  type SendRequest,
  startGuardedServer,
} from './guarded-server.test-support.ts';
import { POLICY } from './policy.test-support.ts';

/** The paths of RBAC objects and of reviews. */
export const RBAC = '/apis/rbac.authorization.k8s.io/v1';
export const AUTHN = '/apis/authentication.k8s.io/v1';
export const AUTHZ = '/apis/authorization.k8s.io/v1';

/**
 * ServerResponses holds the responses of both servers to the same request. The response of the real server is correct,
 * including its wording.
 */
export interface ServerResponses {
  readonly real: GuardedResponse;
  readonly ours: GuardedResponse;
}

/** BothServers holds a real server and one of ours with the same roles. */
export interface BothServers extends AsyncDisposable {
  /** userOf returns a user that the roles refer to. */
  userOf(name: string): Requester;
  /**
   * both sends a request to both servers. Texts may contain NS for the namespace and OWN for the prefix of other names.
   */
  both(...question: Parameters<SendRequest>): Promise<ServerResponses>;
  /** filled returns a value with the placeholders replaced. */
  filled<T>(value: T): T;
  /** onDispose adds cleanup work. */
  onDispose(work: () => Promise<unknown>): void;
}

/** bothServers starts one of our servers, and writes the same roles to it and to the real one. */
export async function bothServers(options: GuardedOptions = {}): Promise<BothServers> {
  const c: Cluster = await cluster({ prefix: 'access' });
  const own = c.uniqueName('access');
  const ours: GuardedServer = startGuardedServer(options);
  const real = senderFor((who) => {
    if (who && 'user' in who && who.user !== 'admin') return c.kubeconfig({ user: who.user, groups: who.groups ?? [] });
    return c.kubeconfig('admin');
  });
  const filled = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll('NS', c.namespace).replaceAll('OWN', own)) as T;
  const both: BothServers['both'] = async (who, method, path, body, headers) => {
    const args = [
      who,
      method,
      filled(path),
      body === undefined ? undefined : filled(body),
      headers && filled(headers),
    ] as const;
    return { real: await real(...args), ours: await ours.send(...args) };
  };
  await ours.send(ADMIN, 'POST', '/api/v1/namespaces', { metadata: { name: c.namespace } });
  for (const [path, object] of POLICY) {
    const responses = await both(ADMIN, 'POST', path, object);
    if (responses.real.code !== 201 || responses.ours.code !== 201)
      throw new TypeError(
        `unexpected responses for ${path}: ${JSON.stringify([responses.real.body, responses.ours.body])}`,
      );
    const name = String(responses.real.body.metadata?.name);
    c.onDispose(() => real(ADMIN, 'DELETE', filled(`${path}/${name}`)));
  }
  // The last object of each kind: once the real server knows these, it knows all before them.
  const knows = (spec: object) => async (): Promise<boolean> => {
    const { body } = await real(ADMIN, 'POST', `${AUTHZ}/subjectaccessreviews`, filled({ spec }));
    return (body.status as { readonly allowed: boolean }).allowed;
  };
  const last = { user: 'OWN:last', resourceAttributes: { verb: 'get', resource: 'x', namespace: 'NS' } };
  await waitFor('the cluster roles', knows({ ...last, resourceAttributes: { verb: 'get', resource: 'y' } }));
  await waitFor('the roles', knows(last));
  return {
    both,
    filled,
    onDispose: (work) => c.onDispose(work),
    userOf: (name) => ({ user: `${own}:${name}` }),
    async [Symbol.asyncDispose]() {
      ours[Symbol.dispose]();
      await c[Symbol.asyncDispose]();
    },
  };
}

/** essential returns what does not depend on the server: no times, versions and ids. */
export function essential({ code, body }: GuardedResponse): object {
  const { name, namespace, labels, finalizers } = body.metadata ?? {};
  return { code, ...body, metadata: { name, namespace, labels, finalizers } };
}

/** senderFor returns a function that sends requests over the network, as the users of the kubeconfigs. */
function senderFor(kubeconfigFor: (who: Requester) => Promise<KubeconfigDocument>): SendRequest {
  const known = new Map<string, Promise<KubeconfigDocument>>();
  return async (who, method, path, body, headers = []) => {
    const key = JSON.stringify(who ?? null);
    const kubeconfig = known.get(key) ?? kubeconfigFor(who);
    known.set(key, kubeconfig);
    const { clusters, users } = await kubeconfig;
    const credentials = users[0].user;
    const lines: Record<string, string | string[]> = { 'content-type': 'application/json' };
    for (const [name, value] of headers)
      lines[name] = name in lines && name !== 'content-type' ? [lines[name] ?? [], value].flat() : value;
    const text = body === undefined ? '' : JSON.stringify(body);
    // Node sets the content length for some methods only.
    lines['content-length'] = String(Buffer.byteLength(text));
    if (who && 'token' in credentials) lines.authorization = `Bearer ${credentials.token}`;
    const clientCertificate =
      who && !('token' in credentials)
        ? { cert: decode(credentials['client-certificate-data']), key: decode(credentials['client-key-data']) }
        : {};
    return new Promise((resolve, reject) => {
      const ca = decode(clusters[0].cluster['certificate-authority-data']);
      const sent = request(
        `${clusters[0].cluster.server}${path}`,
        { method, headers: lines, ca, ...clientCertificate },
        (response) => {
          let received = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
          response.on('end', () => resolve({ code: response.statusCode ?? 0, body: bodyOf(received) }));
        },
      );
      sent.on('error', reject).end(text);
    });
  };
}

/** A body that is not JSON is returned as a message. */
function bodyOf(text: string): GuardedResponse['body'] {
  return (text.startsWith('{') ? JSON.parse(text) : { message: text }) as GuardedResponse['body'];
}

function decode(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
