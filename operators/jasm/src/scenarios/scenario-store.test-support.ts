import { once } from 'node:events';
import { Agent, type IncomingMessage, request as send } from 'node:http';
import { type FakeFault, FakeHttp, type FakeRequest, type FakeResponse } from '../testing/fake-http.test-support.ts';
import type { AwsBackend } from './aws-backend.test-support.ts';

/** StoreFault is what replaces the response to a call: an error in the form of Secrets Manager, or no response. */
export type StoreFault =
  /** A status 500 without an error code, as from a load balancer. */
  | 'unavailable'
  | 'InternalServiceError'
  | 'ThrottlingException'
  /** A denial as AWS sends it: status 400. */
  | 'AccessDeniedException'
  /** A denial as other implementations send it: status 403, and another name. */
  | 'AccessDenied'
  /** The connection is reset. */
  | 'reset'
  /** No response, until the caller leaves. */
  | 'hang';

/**
 * ScenarioStore is a server with the protocol of Secrets Manager behind a proxy that counts calls and makes calls fail.
 */
export interface ScenarioStore extends AwsBackend {
  /** All calls so far, including failed ones, for instance `GetSecretValue /team/db`. */
  readonly calls: readonly string[];
  /**
   * fail makes the next calls fail, one fault each: those of an operation, or those of an operation for a secret in the
   * form of `calls`.
   */
  fail(call: string, ...faults: readonly StoreFault[]): void;
  /** hanging resolves when the next call has arrived that will not be answered. */
  hanging(): Promise<void>;
}

interface Failure {
  readonly call: string;
  readonly fault: StoreFault;
}

/** openStore puts the proxy in front of a server; both are disposed of together. */
export async function openStore(backend: AwsBackend): Promise<ScenarioStore> {
  const calls: string[] = [];
  const failures: Failure[] = [];
  const agent = new Agent({ keepAlive: true });
  // If the server ends, the caller sees the same as from the server itself.
  const ask = (request: FakeRequest): Promise<FakeFault> => pass(request, backend.url, agent).catch(() => 'reset');
  const front = await FakeHttp.start((request) => {
    const operation = operationOf(request);
    // Another AWS service, which is used to assume a role.
    if (operation === undefined) return ask(request);
    const call = `${operation} ${secretsIn(request)}`;
    calls.push(call);
    const index = failures.findIndex((failure) => [operation, call].includes(failure.call));
    const [failure] = index < 0 ? [] : failures.splice(index, 1);
    return failure ? outcomeOf(failure.fault) : ask(request);
  });
  return {
    ...backend,
    url: front.url,
    environment: { ...backend.environment, AWS_ENDPOINT_URL: front.url },
    calls,
    fail: (call, ...faults) => {
      failures.push(...faults.map((fault) => ({ call, fault })));
    },
    hanging: () => front.hanging(),
    [Symbol.asyncDispose]: async () => {
      await front[Symbol.asyncDispose]();
      agent.destroy();
      await backend[Symbol.asyncDispose]();
    },
  };
}

function operationOf({ headers }: FakeRequest): string | undefined {
  return /^secretsmanager\.(\w+)$/.exec(String(headers['x-amz-target']))?.[1];
}

function secretsIn({ body }: FakeRequest): string {
  const { SecretId = '', SecretIdList = [SecretId] } = JSON.parse(body) as {
    readonly SecretId?: string;
    readonly SecretIdList?: readonly string[];
  };
  return SecretIdList.join(' ');
}

function outcomeOf(fault: StoreFault): FakeFault {
  switch (fault) {
    case 'reset':
    case 'hang':
      return fault;
    case 'unavailable':
      return { status: 500, body: '<html>Internal Server Error</html>', headers: { 'content-type': 'text/html' } };
    case 'InternalServiceError':
      return problem(500, fault);
    case 'AccessDenied':
      return problem(403, fault);
    case 'ThrottlingException':
    case 'AccessDeniedException':
      return problem(400, fault);
  }
}

/** Every AWS message is different: it contains the request id. */
let problems = 0;

function problem(status: number, code: string): FakeResponse {
  const id = `00000000-0000-4000-8000-${String(++problems).padStart(12, '0')}`;
  const message = `${code} for arn:aws:sts::123456789012:assumed-role/jasm/AROAEXAMPLEEXAMPLE, request ${id}`;
  return {
    status,
    body: { __type: code, Message: message },
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': id },
  };
}

/** pass forwards a request to the server. The headers stay as they were signed. */
async function pass({ method, url, headers, body }: FakeRequest, server: string, agent: Agent): Promise<FakeResponse> {
  const sent = send(new URL(url.pathname, server), { method, headers, agent });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return {
    status: answer.statusCode ?? 0,
    body: Buffer.concat(chunks).toString(),
    headers: Object.fromEntries(
      ['content-type', 'date', 'x-amzn-requestid', 'x-amzn-errortype'].flatMap((name) => {
        const value = answer.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    ),
  };
}
