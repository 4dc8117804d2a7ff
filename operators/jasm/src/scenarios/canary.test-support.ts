import { leaksOf } from '../../../../test/support/traces.ts';
import { FakeHttp, type FakeRequest, type FakeResponse } from '../testing/fake-http.test-support.ts';

/** CANARY is a value that must appear only in Secrets. */
export const CANARY = 'canary-Zq7!correct-horse';

/** leaks returns the parts of a text that contain a trace of the canary. */
export function leaks(text: string): readonly string[] {
  return leaksOf(text, [CANARY]);
}

/**
 * LeakyStore stands in for Secrets Manager, STS, Vault, Key Vault and the metadata service of Azure, and includes
 * the canary in every response.
 */
export class LeakyStore implements AsyncDisposable {
  readonly http: FakeHttp;
  #version = 1;

  private constructor(http: FakeHttp) {
    this.http = http;
  }

  static async start(): Promise<LeakyStore> {
    const store: LeakyStore = new LeakyStore(await FakeHttp.start((request) => store.#answerTo(request)));
    return store;
  }

  /** rotate changes the value of the secret `rotated`; the new value contains the canary too. */
  rotate(): void {
    this.#version++;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.http[Symbol.asyncDispose]();
  }

  #answerTo({ method, url, headers, body }: FakeRequest): FakeResponse {
    if (method === 'GET' && url.pathname.startsWith('/v1/')) return vaultAnswer(url.pathname);
    if (method === 'GET') return azureAnswer(url);
    if (headers['x-amz-target'] === undefined) return stsAnswer(new URLSearchParams(body).get('RoleArn') ?? '');
    const { SecretId = '', SecretIdList } = JSON.parse(body) as AwsInput;
    const answer = SecretIdList ? listAnswer(SecretIdList) : this.#secretAnswer(SecretId);
    return { ...answer, headers: { 'content-type': 'application/x-amz-json-1.1', ...answer.headers } };
  }

  #secretAnswer(SecretId: string): FakeResponse {
    const rotated = found(JSON.stringify({ password: `${CANARY} ${this.#version}` }), this.#version);
    const answer = SecretId === 'rotated' ? rotated : AWS_ANSWERS[SecretId];
    return answer ?? { status: 500, body: `the test has no response for ${SecretId}` };
  }
}

interface AwsInput {
  readonly SecretId?: string;
  readonly SecretIdList?: readonly string[];
}

function found(SecretString: string, version = 1): FakeResponse {
  const ARN = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:x-abcdef';
  // The response of DescribeSecret has the stages, that of GetSecretValue the rest.
  const VersionIdsToStages = { [`v${version}`]: ['AWSCURRENT'] };
  return { status: 200, body: { ARN, VersionId: `v${version}`, VersionIdsToStages, SecretString } };
}

function refused(status: number, code: string): FakeResponse {
  return { status, body: { __type: code, Message: SAID } };
}

/** LISTED holds the result of Secrets Manager for each secret of a list: an error code, or undefined for a value. */
export const LISTED: Readonly<Record<string, string | undefined>> = {
  'listed-fine': undefined,
  'listed-request': 'InvalidRequestException',
  'listed-parameter': 'InvalidParameterException',
  'listed-denied': 'AccessDeniedException',
  'listed-missing': 'ResourceNotFoundException',
  'listed-decryption': 'DecryptionFailure',
  'listed-unheard': 'UnheardException',
  'listed-strange': `Strange${CANARY}Exception`,
};

const SAID = `cannot use "${CANARY}" of {"password":"${CANARY}"}`;

function listAnswer(ids: readonly string[]): FakeResponse {
  const values = ids.filter((id) => LISTED[id] === undefined);
  const body = {
    SecretValues: values.map((Name) => ({ Name, VersionId: 'v1', SecretString: JSON.stringify({ password: CANARY }) })),
    Errors: ids
      .filter((id) => LISTED[id] !== undefined)
      .map((SecretId) => ({ SecretId, ErrorCode: LISTED[SecretId], Message: SAID })),
  };
  return { status: 200, body };
}

/** The response of Secrets Manager for each of its secrets. */
const AWS_ANSWERS: Readonly<Record<string, FakeResponse>> = {
  fine: found(JSON.stringify({ password: CANARY, username: 'shop' })),
  text: found(CANARY),
  list: found(JSON.stringify([CANARY])),
  cut: found(`{"password":"${CANARY}`),
  json: found(`{"password":"${CANARY}",}`),
  spaces: found(JSON.stringify({ 'a key': CANARY })),
  large: found(JSON.stringify({ password: `${CANARY} `.repeat(50_000) })),
  parameter: refused(400, 'InvalidParameterException'),
  strange: refused(400, `Strange${CANARY}Exception`),
  denied: refused(400, 'AccessDeniedException'),
  deleted: refused(400, 'InvalidRequestException'),
  missing: refused(400, 'ResourceNotFoundException'),
  failing: refused(500, 'InternalServiceError'),
  'listed-unheard': refused(400, 'UnheardException'),
  'listed-strange': refused(400, `Strange${CANARY}Exception`),
  'no-json': { status: 200, body: `{"SecretString":"${CANARY}` },
  page: { status: 502, body: `<html>${CANARY}</html>`, headers: { 'content-type': 'text/html' } },
};

/** STS refuses every session. */
function stsAnswer(role: string): FakeResponse {
  const code = role.endsWith('/strange') ? `Strange${CANARY}` : 'AccessDenied';
  const body = `<ErrorResponse><Error><Code>${code}</Code><Message>${SAID}</Message></Error></ErrorResponse>`;
  return { status: 403, body, headers: { 'content-type': 'text/xml' } };
}

/** UNKNOWN_CLIENT is an identity of Azure that gets no token. */
export const UNKNOWN_CLIENT = '00000000-0000-4000-8000-000000000000';

function azureAnswer({ pathname, searchParams }: URL): FakeResponse {
  if (pathname.startsWith('/metadata/')) {
    const isKnown = searchParams.get('client_id') !== UNKNOWN_CLIENT;
    return isKnown
      ? { status: 200, body: { access_token: 'a-token', expires_in: '3600' } }
      : { status: 400, body: { error: `no ${CANARY}`, error_description: SAID } };
  }
  const error = { code: `Bad${CANARY}`, message: SAID, innererror: { code: CANARY } };
  if (pathname.endsWith('/fine')) {
    return { status: 200, body: { value: JSON.stringify({ password: CANARY }), id: 'https://x/secrets/fine/v1' } };
  }
  if (pathname.endsWith('/denied')) return { status: 403, body: { error } };
  if (pathname.endsWith('/refused')) return { status: 400, body: { error } };
  if (pathname.endsWith('/failing')) return { status: 500, body: { error } };
  return { status: 200, body: `{"value":"${CANARY}` };
}

function vaultAnswer(path: string): FakeResponse {
  if (path.endsWith('/fine')) {
    return { status: 200, body: { data: { data: { password: CANARY }, metadata: { version: 1, created_time: 't' } } } };
  }
  if (path.endsWith('/refused')) return { status: 400, body: { errors: [`cannot use ${CANARY}`] } };
  if (path.endsWith('/failing')) return { status: 500, body: { errors: [CANARY] } };
  return { status: 200, body: `{"data":{"data":{"password":"${CANARY}"` };
}
