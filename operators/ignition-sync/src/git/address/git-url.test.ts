import { describe, expect, it } from 'vitest';
import { parseRef } from './git-ref.ts';
import { parseGitUrl } from './git-url.ts';

describe('parseGitUrl', () => {
  it.each([
    ['https://git.example.com/team/plant.git', 'https', 'https://git.example.com', 'git.example.com', ''],
    ['https://Git.Example.com:443/a', 'https', 'https://git.example.com', 'git.example.com', ''],
    ['https://bot@git.example.com:8443/a.git', 'https', 'https://git.example.com:8443', 'git.example.com:8443', 'bot'],
    ['ssh://git@git.example.com:2222/a.git', 'ssh', 'ssh://git.example.com:2222', 'git.example.com:2222', 'git'],
    ['ssh://git@git.example.com:22/a.git', 'ssh', 'ssh://git.example.com', 'git.example.com', 'git'],
    ['git@github.com:team/plant.git', 'ssh', 'ssh://github.com', 'github.com', 'git'],
    ['git@[::1]:team/plant.git', 'ssh', 'ssh://[::1]', '[::1]', 'git'],
    ['http://127.0.0.1:8080/a', 'http', 'http://127.0.0.1:8080', '127.0.0.1:8080', ''],
    ['http://localhost/a', 'http', 'http://localhost', 'localhost', ''],
  ])('accepts %s', (text, scheme, origin, host, user) => {
    expect(parseGitUrl(text)).toEqual({ text, scheme, origin, host, user });
  });

  it.each([
    '',
    '-oProxyCommand=touch',
    '--upload-pack=touch x',
    'ext::sh -c touch',
    'ext::sh',
    'file:///etc',
    'file::/etc',
    '/srv/git',
    './a',
    'git://host/a',
    'ftp://host/a',
    'https:host/a',
    'https://user:secret@host/a',
    'https://host/',
    'https://-host/a',
    'ssh://-oProxyCommand=touch/a',
    'ssh://-l@host/a',
    'ssh://host/-x',
    '-user@host:path',
    'git@-host:path',
    'git@host:-path',
    'git@host',
    'https://host/a b',
    'https://host/a\n',
    'https://hóst/a',
    `https://host/${'a'.repeat(2_048)}`,
  ])('refuses %j', (text) => {
    expect(() => parseGitUrl(text)).toThrow(expect.objectContaining({ reason: 'ProtocolRefused' }));
  });

  it('does not repeat an address in its error, because it may contain a password', () => {
    expect(() => parseGitUrl('https://user:canary@host/a')).toThrow(/^(?!.*canary)/);
  });

  it('allows plain HTTP for other hosts only if that is configured', () => {
    expect(() => parseGitUrl('http://git.example.com/a')).toThrow('set allowPlainHttp');
    expect(parseGitUrl('http://git.example.com/a', { allowPlainHttp: true }).scheme).toBe('http');
  });
});

describe('parseRef', () => {
  it.each([
    ['main', ['refs/tags/main', 'refs/heads/main']],
    ['release/2.0', ['refs/tags/release/2.0', 'refs/heads/release/2.0']],
    ['refs/heads/main', ['refs/heads/main']],
    ['refs/tags/v1', ['refs/tags/v1']],
    ['1'.repeat(39), [`refs/tags/${'1'.repeat(39)}`, `refs/heads/${'1'.repeat(39)}`]],
  ])('looks for %s', (ref, candidates) => {
    expect(parseRef(ref)).toEqual({ kind: 'named', candidates });
  });

  it('uses a hash as it is', () => {
    expect(parseRef('A'.repeat(40))).toEqual({ kind: 'commit', commit: 'a'.repeat(40) });
  });

  it.each([
    '',
    '--upload-pack=x',
    '-x',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a@{1}',
    '@',
    '/a',
    'a/',
    'a//b',
    'a.',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a\u0000b',
    'a'.repeat(256),
  ])('refuses %j', (ref) => {
    expect(() => parseRef(ref)).toThrow(expect.objectContaining({ reason: 'RefNotFound' }));
  });
});
