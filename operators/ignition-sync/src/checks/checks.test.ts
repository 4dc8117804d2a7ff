import { validate } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { checkedText } from '../api/checked-text.ts';
import { REF_NAME, refNameProblem } from './ref-name.ts';
import { RELATIVE_PATH, relativePathProblem } from './relative-path.ts';
import { REPOSITORY_URL, repositoryUrlProblem } from './repository-url.ts';
import { type TextLimits, textProblem } from './text-check.ts';
import {
  GATEWAY_NAME,
  GLOB,
  HTTP_URL,
  HTTPS_URL,
  IMAGE_DIGEST,
  JSON_PATH,
  S3_BUCKET,
  SECRET_KEY,
  SNAPSHOT_NAME,
  USER_NAME,
} from './text-limits.ts';

/** Expects the schema to accept and refuse the same texts as the function at run time, with the same message. */
function expectSameInSchema(text: string, limits: TextLimits, problem: string | undefined): void {
  const problems = validate(text, checkedText(limits).json);
  expect(problems.length > 0).toBe(problem !== undefined);
  const isRule = limits.checks.some(({ message }) => message === problem);
  if (isRule) expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(`: ${problem}`)]);
}

describe('the URL of a repository', () => {
  it.each([
    'https://git.example.com/plant.git',
    'https://git.example.com:8443/a/b%20c/~d.git',
    'http://127.0.0.1:8080/plant.git',
    'https://[::1]:8443/plant.git',
    'ssh://git.example.com/plant.git',
    'ssh://git@git.example.com:22/plant.git',
    'git@github.com:org/plant.git',
    'git@host:/srv/git/plant.git',
    'git@[2001:db8::1]:plant.git',
    'https://dev.azure.com/org/project/_git/plant',
  ])('may be %s', (url) => {
    expect(repositoryUrlProblem(url)).toBeUndefined();
    expectSameInSchema(url, REPOSITORY_URL, undefined);
  });

  const credentials = 'contains credentials';
  const protocol = 'must begin with https://';
  const form = 'has no valid host or path';
  it.each<[string, string]>([
    ['', 'must not be empty'],
    [`https://a/${'b'.repeat(2048)}`, 'at most 2048 characters'],
    ['https://user:password@host/plant.git', credentials],
    ['https://ghp_token@github.com/org/plant.git', credentials],
    ['https://@host/plant.git', credentials],
    ['ssh://git:password@host/plant.git', credentials],
    ['git:password@host:plant.git', credentials],
    ['-x', protocol],
    ['--upload-pack=touch', protocol],
    ['-oProxyCommand=x@host:path', protocol],
    ['file:///srv/plant.git', protocol],
    ['/srv/plant.git', protocol],
    ['../plant.git', protocol],
    ['plant', protocol],
    ['ext::sh', protocol],
    ['ext::https://host/plant.git', protocol],
    ['git://host/plant.git', protocol],
    ['ftp://host/plant.git', protocol],
    ['HTTPS://host/plant.git', protocol],
    ['ssh+git://host/plant.git', protocol],
    ['https://', form],
    ['https://host', form],
    ['https://host/', form],
    ['https://-x/plant.git', form],
    ['https://host/plant.git?a=b', form],
    ['https://host/plant.git#main', form],
    ['https://host\\@other/plant.git', 'contains credentials'],
    ['ssh://-oProxyCommand=x/plant.git', form],
    ['git@-oProxyCommand:plant.git', form],
    ['git@host', form],
    ['git@host:', form],
    ['git@host:-x', form],
    ['git@ext::sh', form],
    ['https://host/a b', 'contains white space'],
    ['https://host/a\tb', 'contains white space'],
    ['https://host/a\nb', 'contains white space'],
    ['https://host/a\u0000b', 'contains white space'],
    ['https://höst/plant.git', 'contains white space'],
  ])('may not be %j', (url, problem) => {
    expect(repositoryUrlProblem(url)).toContain(problem);
    expectSameInSchema(url, REPOSITORY_URL, repositoryUrlProblem(url));
  });
});

describe('a ref', () => {
  it.each([
    'main',
    'v2.0.1',
    'feature/line-1',
    'refs/heads/main',
    'refs/tags/v1',
    'refsomething',
    '1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d',
    'wartung/größe',
    'a@b',
    'gateway-changes/{{.Namespace}}/{{.GatewayName}}',
  ])('may be %s', (ref) => {
    expect(refNameProblem(ref)).toBeUndefined();
    expectSameInSchema(ref, REF_NAME, undefined);
  });

  const characters = 'names of branches and tags cannot contain';
  const structure = 'is no name of a branch or tag';
  const full = 'is neither a branch nor a tag';
  it.each<[string, string]>([
    ['', 'must not be empty'],
    ['a'.repeat(256), 'at most 255 characters'],
    ['-x', 'must not begin with a dash'],
    ['--upload-pack=touch', 'must not begin with a dash'],
    ...['a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[0]', 'a\\b', 'a\tb', 'a\nb', 'a\u0000b', 'a\u007fb'].map(
      (ref): [string, string] => [ref, characters],
    ),
    ...['a..b', '..', '.', 'a@{1}', '@', 'a//b', '/a', 'a/', 'a.', '.a', 'a/.b', 'a.lock', 'a.lock/b'].map(
      (ref): [string, string] => [ref, structure],
    ),
    ['refs', full],
    ['refs/heads', full],
    ['refs/pull/1/head', full],
    ['refs/notes/x', full],
  ])('may not be %j', (ref, problem) => {
    expect(refNameProblem(ref)).toContain(problem);
    expectSameInSchema(ref, REF_NAME, refNameProblem(ref));
  });
});

describe('a relative path', () => {
  it.each([
    'a',
    'services/site',
    'a b/c',
    '.github',
    '..a/b..',
    '...',
    '-x',
    'größe',
    'sites/{{.SiteNumber}}/{{ .Ref }}',
  ])('may be %s', (path) => {
    expect(relativePathProblem(path)).toBeUndefined();
    expectSameInSchema(path, RELATIVE_PATH, undefined);
  });

  const part = 'has a part that is empty, "." or ".."';
  it.each<[string, string]>([
    ['', 'must not be empty'],
    ['a'.repeat(1025), 'at most 1024 characters'],
    ['/', 'is an absolute path'],
    ['/etc/passwd', 'is an absolute path'],
    ...['..', '../a', 'a/..', 'a/../b', '.', './a', 'a/.', 'a/./b', 'a//b', 'a/'].map((path): [string, string] => [
      path,
      part,
    ]),
    ['a\\b', 'contains a backslash'],
    ['..\\a', 'contains a backslash'],
    ['a\u0000b', 'contains a control character'],
    ['a\nb', 'contains a control character'],
    ['a\u007f', 'contains a control character'],
  ])('may not be %j', (path, problem) => {
    expect(relativePathProblem(path)).toContain(problem);
    expectSameInSchema(path, RELATIVE_PATH, relativePathProblem(path));
  });

  it('may be the folder itself where that is allowed', () => {
    expect(relativePathProblem('.', { allowRoot: true })).toBeUndefined();
    expect(relativePathProblem('..', { allowRoot: true })).toContain(part);
    expect(relativePathProblem('./', { allowRoot: true })).toContain(part);
  });
});

describe.each<[string, TextLimits, readonly string[], readonly string[]]>([
  [
    'an https URL',
    HTTPS_URL,
    ['https://a', 'https://a.b:1/c?d', 'https://[::1]/'],
    ['http://a', 'https://', 'https://u:p@a/', 'https://a/ b', 'https://-a'],
  ],
  ['an http URL', HTTP_URL, ['http://a:9000', 'https://a/b'], ['ftp://a', 'http://u@a', 'a']],
  [
    'a JSON path',
    JSON_PATH,
    ['.a', '.a.b[0].c', '[1]', '.a-b_c'],
    ['a', '.', '.a.', '.a[b]', '.a[]', '$.a', '.a b', '.a..b'],
  ],
  ['the key of a Secret', SECRET_KEY, ['token', 'a.b-c_D'], ['a/b', 'a b', 'ä']],
  ['a user name', USER_NAME, ['x-access-token', 'a@b'], ['a:b', 'a b', 'a\n']],
  ['a glob', GLOB, ['**/.git/', 'a?*', 'x y'], ['a\\b', 'a\nb']],
  ['the name of a gateway', GATEWAY_NAME, ['site', 'Site-1.a'], ['a b', 'a\n']],
  ['the name of a snapshot', SNAPSHOT_NAME, ['site-20260101-120000.tar.gz'], ['../a', 'a/b', '.a', '-a']],
  ['a bucket', S3_BUCKET, ['abc', 'a.b-c'], ['ab', 'A', 'a_b', '-abc', 'abc-']],
  [
    'the digest of an image',
    IMAGE_DIGEST,
    [`sha256:${'a0'.repeat(32)}`],
    ['sha256:a', `sha256:${'A0'.repeat(32)}`, 'latest'],
  ],
])('%s', (_, limits, valid, invalid) => {
  it('is checked at run time as by the schema', () => {
    for (const text of [...valid, ...invalid]) {
      const problem = textProblem(text, limits);
      expect([text, problem === undefined]).toEqual([text, valid.includes(text)]);
      expectSameInSchema(text, limits, problem);
    }
  });
});
