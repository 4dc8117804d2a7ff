import type { Difference } from './differences.ts';
import type { Step } from './step.ts';

/** Found is a difference and where it was found. */
export interface Found extends Difference {
  readonly case: string;
  readonly step: Step;
}

/** KnownDifference is where we answer otherwise on purpose, or do not mind. */
export interface KnownDifference {
  readonly name: string;
  readonly reason: string;
  isOf(found: Found): boolean;
}

/** said is the text of a value: what a difference is about can be anywhere in an answer. */
const said = (value: unknown): string => JSON.stringify(value) ?? '';
const isMessage = (path: string): boolean => path === 'body.message' || path.startsWith('body.details.causes');
const isDiscovery = ({ case: name }: Found): boolean => name.includes('discovery');
/** isAbsent: the real server says something and we say nothing there. */
const isAbsent = ({ ours }: Found): boolean => ours === undefined;

/** KNOWN are all of them: at most 40, and each must still be found. */
export const KNOWN: readonly KnownDifference[] = [
  {
    name: 'version',
    reason: 'we are another program: /version names it',
    isOf: ({ step, path }) => /^\/version/.test(step.path) && /^body\.(git|go|compiler|platform)/.test(path),
  },
  {
    name: 'kinds that are not served',
    reason: 'kinds and subresources that nobody here needs are left out of discovery and answered with 404',
    isOf: (found) => isDiscovery(found) && isAbsent(found) && /^body\.(resources|groups|items)\./.test(found.path),
  },
  {
    name: 'hash of the storage version',
    reason: 'the real server stores CustomResourceDefinitions in an older version',
    isOf: (found) => isDiscovery(found) && found.path.endsWith('storageVersionHash'),
  },
  {
    name: 'addresses of nameless Services',
    reason: 'the real server allocates an address in the name of the Service before it looks whether there is one',
    isOf: ({ case: name, path }) =>
      name === 'what a Service must not be' && isMessage(path) && /IPAddress|metadata\.name: Required/.test(path),
  },
  {
    name: 'keys of etcd',
    reason: 'messages of the real server name the key in etcd, which there is none of here',
    isOf: ({ path, real }) => path === 'body.message' && said(real).includes('Key: /registry/'),
  },
  {
    name: 'differences of Pods',
    reason: 'the real server shows how a forbidden change of a Pod differs in the words of its internal types',
    isOf: ({ step, path, real, ours }) =>
      /\/pods\//.test(step.path) &&
      isMessage(path) &&
      /pod updates may not|@@ -|null|Forbidden|Invalid|Required|Unsupported/.test(said([real, ours, path])),
  },
  {
    name: 'protection of claims',
    reason: 'no controller here would remove the finalizer of claims in use',
    isOf: ({ path, real }) => path.endsWith('finalizers') && said(real).includes('kubernetes.io/pvc-protection'),
  },
  {
    name: 'template generation of DaemonSets',
    reason: 'an annotation of a version that is gone; the real server shows and owns it in some answers only',
    isOf: ({ path, real, ours }) =>
      said([path, real, ours]).includes('deprecated.daemonset') ||
      (/DaemonSet|daemonset/.test(path) && path.includes('annotations')),
  },
  {
    name: 'owner of the annotations of DaemonSets',
    reason: 'it follows from the annotation above',
    isOf: ({ case: name, path }) => /DaemonSet/.test(name) && /f:annotations\.\./.test(path),
  },
  {
    name: 'values in messages about Jobs',
    reason:
      'the real server shows internal types, and demands a selector of an update before it says that it is immutable',
    isOf: ({ step, path }) => /\/jobs/.test(step.path) && isMessage(path),
  },
  {
    name: 'Jobs orphan their Pods',
    reason: 'batch/v1 keeps the Pods of a Job by default for old clients; here they go with it, as kubectl asks for',
    // How soon they are orphaned, and the Job is gone, is up to the garbage collector.
    isOf: ({ case: name, step, path }) =>
      name === 'the life of a Job' && (step.method === 'DELETE' || (step.method === 'GET' && path === 'code')),
  },
  {
    name: 'finalizers without a domain',
    reason: 'some groups of the real server do not look for it; here all built-in kinds do',
    isOf: ({ case: name, path }) =>
      /what a (Lease|PodDisruptionBudget|ValidatingWebhook)/.test(name) &&
      isMessage(path) &&
      path.includes('standard finalizer'),
  },
  {
    name: 'names of PodDisruptionBudgets',
    reason: 'the real server takes any name for them; a name that no other kind could have is refused here',
    isOf: ({ case: name, path, ours }) =>
      name === 'what a PodDisruptionBudget must not be' && path === 'code' && said(ours).includes('"code":422'),
  },
  {
    name: 'rules that were not checked',
    reason: 'we say that rules were skipped where the content is invalid, not where the metadata is',
    isOf: ({ path }) => isMessage(path) && /some validation rules were not checked|accessor error/.test(path),
  },
  {
    name: 'watch=x',
    reason:
      'the real server waits for nothing and sends nothing; here everything but a no is a watch from the beginning',
    isOf: ({ step }) => step.path.includes('watch=x'),
  },
  {
    name: 'formats and older forms',
    reason:
      'answers are JSON, tables and metadata in version v1: YAML, v1beta1 and lists of one are refused or written as JSON',
    isOf: ({ case: name, path }) => name === 'forms' && /^(code|body\.(message|details))/.test(path),
  },
  {
    name: 'form of bookmarks',
    reason: 'a bookmark is an object here, whatever form was asked for: clients read its version alone',
    isOf: ({ case: name, path }) =>
      name === 'a watch of what is there' && /object\.(kind|apiVersion|rows|columnDefinitions|metadata)/.test(path),
  },
  {
    name: 'order of members in quoted JSON',
    reason: 'messages quote what a patch made; the order of its members is that of our storage',
    isOf: ({ path }) => isMessage(path) && /Invalid value: .{1,4}\{.*apiVersion/.test(path),
  },
  {
    name: 'patches that change the kind',
    reason: 'a patch cannot make another kind of a built-in object here: the change is ignored, not refused',
    isOf: ({ case: name, step, path }) =>
      path === 'code' &&
      /^(JSON|merge) patches$/.test(name) &&
      /"(kind|apiVersion)":"|"\/(kind|apiVersion)"/.test(said(step.body)),
  },
  {
    name: 'managedFields set to nothing',
    reason: 'an empty list of managers of a custom resource forgets them here too, as it does for built-in kinds',
    isOf: ({ path, real, step }) =>
      path === 'body.metadata.managedFields' && real !== undefined && /widgets/.test(step.path),
  },
  {
    name: 'YAML',
    reason: 'another reader: YAML 1.2, in which yes is a text, one document, and errors in its own words',
    isOf: ({ case: name, path, ours, step }) =>
      name === 'bodies in YAML' || (typeof step.body === 'string' && isMessage(path) && said(ours).includes('yaml: ')),
  },
  {
    name: 'phases of namespaces',
    reason: 'the phase that a client writes is not judged: the namespace controller writes the right one',
    isOf: ({ step, path }) => path === 'code' && /namespaces\/OWN\/status/.test(step.path),
  },
  {
    name: 'empty maps in messages',
    reason: 'an empty map and none are the same to us: messages show null',
    isOf: ({ path }) => isMessage(path) && /Invalid value: (\{\}|null): /.test(path),
  },
  {
    name: 'classes of claims',
    reason: 'the real server lets the class of a claim be set once later; here the spec is fixed',
    isOf: ({ step, path }) => path === 'code' && /persistentvolumeclaims/.test(step.path),
  },
  {
    name: 'words about expressions',
    reason: 'another parser of CEL: the place and the problem are named, in its own words',
    isOf: ({ path }) => isMessage(path) && /ERROR: /.test(path),
  },
  {
    name: 'owner of no rules',
    reason: 'the rules of a Role have an owner here even if there are none',
    isOf: ({ path, ours }) => path.includes('managedFields') && said(ours).includes('f:rules'),
  },
  {
    name: 'names of Go types',
    reason: 'messages about values of the wrong type name the types of Go, where a few texts have names of their own',
    isOf: ({ path, real, ours }) =>
      path === 'body.message' && said(real).replace(/of type v\d\.\w+/, 'of type string') === said(ours),
  },
  {
    name: 'words about strategic merge patches',
    reason: 'what of a patch cannot be read is named in the words of a reader of JSON, not of maps',
    isOf: ({ path }) => path.startsWith('body.details.causes.patch: Invalid value: "map['),
  },
  {
    name: 'another kind as a scale',
    reason: 'the real server does not know the kind of its own scale of custom resources here',
    isOf: ({ step, path, real }) =>
      path === 'body.message' &&
      step.path.includes('/scale') &&
      said(real).includes('no kind is registered for the type v1.Scale'),
  },
  {
    name: 'lists of bytes',
    reason: 'the real server reads a list of numbers as bytes where text in base64 is meant',
    isOf: ({ step, path }) => path === 'code' && /\[\]/.test(said(step.body)) && /secrets|configmaps/.test(step.path),
  },
  {
    name: 'applied bytes that are no base64',
    reason: 'a mistake of the client: the real server takes it for a failure of its own',
    isOf: ({ path, real, ours }) =>
      path === 'code' && said(real).includes('failed to convert new object') && said(ours).includes('"code":400'),
  },
  {
    name: 'apply of a scale',
    reason: 'who owns fields of a scale is not recorded here, so nothing can be applied to one',
    isOf: ({ step, path, ours }) =>
      path === 'code' && step.path.includes('/scale?') && said(ours).includes('"code":415'),
  },
  {
    name: 'numbers beyond all bounds',
    reason: 'a number that no float holds is refused when it is read, wherever it stands',
    isOf: ({ step }) => said(step.body).includes('1e400'),
  },
  {
    name: 'kinds that stand twice',
    reason: 'a body that says two kinds is refused for the kind before the repetition',
    isOf: ({ case: name, path, real }) =>
      name === 'strict bodies' && path === 'code' && said(real).includes('duplicate field'),
  },
  {
    name: 'field of data that is too long',
    reason: 'the real server calls the whole object [] here',
    isOf: ({ path }) => isMessage(path) && path.includes('Too long: may not be more than 1048576 bytes'),
  },
  {
    name: 'creation at the path of a custom resource',
    reason: 'it is not allowed, which we say before we read the body',
    isOf: ({ step, path }) => path === 'code' && step.method === 'POST' && /widgets\/a$/.test(step.path),
  },
];
