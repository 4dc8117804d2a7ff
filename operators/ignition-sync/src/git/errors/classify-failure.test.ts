import { expect, it } from 'vitest';
import { classifyFailure } from './classify-failure.ts';

const NO_RESPONSE = { status: undefined, redirectHost: undefined };

it.each([
  ['fatal: unable to access: Could not resolve host: git.example.com', 'HostUnreachable'],
  ['ssh: connect to host git.example.com port 22: Connection refused', 'HostUnreachable'],
  ['fatal: unable to access: Received HTTP code 403 from proxy after CONNECT', 'HostUnreachable'],
  ['git@git.example.com: Permission denied (publickey).', 'AuthenticationFailed'],
  ["fatal: could not read Username for 'https://git.example.com': terminal prompts disabled", 'AuthenticationFailed'],
  ['Host key verification failed.\nfatal: Could not read from remote repository.', 'HostKeyChanged'],
  ['fatal: unable to access: SSL certificate problem: unable to get local issuer certificate', 'TlsFailed'],
  ['fatal: unable to access: server certificate verification failed. CAfile: none', 'TlsFailed'],
  ['fatal: remote error: upload-pack: not our ref 1111', 'CommitGone'],
  ['error: Server does not allow request for unadvertised object 1111', 'CommitGone'],
  ["fatal: couldn't find remote ref refs/heads/x", 'RefNotFound'],
  ['ERROR: Repository not found.\nfatal: Could not read from remote repository.', 'RepositoryNotFound'],
  ["fatal: transport 'ext' not allowed", 'ProtocolRefused'],
  ['fatal: something new with canary', 'GitFailed'],
])('classifies %j', (stderr, reason) => {
  const error = classifyFailure({ host: 'git.example.com', stderr, http: NO_RESPONSE });
  expect(error).toMatchObject({ code: 'BOWLINE_GIT_OPERATION', reason, host: 'git.example.com' });
  expect(error.message.startsWith(`${reason}: `)).toBe(true);
  expect(error.message).toContain('git.example.com');
  expect(error.message).not.toContain('canary');
});

it('trusts the status of a response more than the text', () => {
  const http = { status: 404, redirectHost: undefined };
  const stderr = 'remote: Permission denied\nfatal: Authentication failed';
  expect(classifyFailure({ host: 'git.example.com', stderr, http }).reason).toBe('RepositoryNotFound');
});
