import type { Signer, SigningKey } from './fake-aws-signature.test-support.ts';
import type { FakeResponse } from './fake-http.test-support.ts';

/** FakeRole is a role that can be assumed. */
export interface FakeRole {
  /** The external id that its trust policy requires. Defaults to none. */
  readonly externalId?: string | undefined;
  /** The web identity token that it accepts. Defaults to none: only principals with keys can assume it. */
  readonly webIdentityToken?: string | undefined;
}

/** FakeSession is a session of a role. */
export interface FakeSession extends SigningKey {
  readonly role: string;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** FakeSts issues sessions of roles, by key and by web identity. */
export class FakeSts {
  readonly roles = new Map<string, FakeRole>();
  /** By access key id. */
  readonly sessions = new Map<string, FakeSession>();
  /** The lifetime of sessions, from the current time of the machine. */
  sessionMs = 3_600_000;
  /** The calls, for instance `AssumeRole arn:aws:iam::123456789012:role/reader`. */
  readonly calls: string[] = [];

  /** answer handles a request whose signature, if it needs one, was verified. */
  answer(form: URLSearchParams, signer: Signer | undefined): FakeResponse {
    const action = form.get('Action') ?? '';
    const arn = form.get('RoleArn') ?? '';
    this.calls.push(`${action} ${arn}`);
    const role = this.roles.get(arn);
    const isKnown = role !== undefined && this.#mayAssume(action, role, form, signer);
    if (isKnown) return this.#begin(action, arn, form);
    // As AWS words it, with more than our messages may show.
    const said = `User: arn:aws:iam::123456789012:user/${signer?.accessKeyId ?? 'web'} is not authorized to perform: sts:${action} on resource: ${arn}`;
    return action === 'AssumeRoleWithWebIdentity'
      ? problem('InvalidIdentityToken', 'No OpenIDConnect provider found in your account')
      : problem('AccessDenied', said);
  }

  #mayAssume(action: string, role: FakeRole, form: URLSearchParams, signer: Signer | undefined): boolean {
    if (action === 'AssumeRoleWithWebIdentity') return form.get('WebIdentityToken') === role.webIdentityToken;
    const isTrusted = role.externalId === undefined || form.get('ExternalId') === role.externalId;
    return action === 'AssumeRole' && signer !== undefined && role.webIdentityToken === undefined && isTrusted;
  }

  #begin(action: string, role: string, form: URLSearchParams): FakeResponse {
    const number = String(this.sessions.size + 1);
    const accessKeyId = `ASIAFAKESESSION${number.padStart(5, '0')}`;
    const session: FakeSession = {
      role,
      name: form.get('RoleSessionName') ?? '',
      tags: tagsOf(form),
      secretAccessKey: `fake-session-secret-${number}`,
      sessionToken: `fake-session-token-${number}`,
    };
    this.sessions.set(accessKeyId, session);
    const expiration = new Date(Date.now() + this.sessionMs).toISOString();
    const credentials = `<Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${session.secretAccessKey}</SecretAccessKey><SessionToken>${String(session.sessionToken)}</SessionToken><Expiration>${expiration}</Expiration></Credentials>`;
    return xml(200, `<${action}Response><${action}Result>${credentials}</${action}Result></${action}Response>`);
  }
}

function tagsOf(form: URLSearchParams): Record<string, string> {
  const tags: Record<string, string> = {};
  for (const [name, key] of form) {
    const place = /^Tags\.member\.(\d+)\.Key$/.exec(name)?.[1];
    if (place) tags[key] = form.get(`Tags.member.${place}.Value`) ?? '';
  }
  return tags;
}

function problem(code: string, message: string): FakeResponse {
  return xml(403, `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`);
}

function xml(status: number, body: string): FakeResponse {
  return { status, body, headers: { 'content-type': 'text/xml' } };
}
