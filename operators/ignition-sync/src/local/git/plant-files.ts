/** PlantFiles are texts of the sample repository by path. */
export type PlantFiles = Readonly<Record<string, string>>;

const VIEWS = 'com.inductiveautomation.perspective/views';
/** The view of each gateway that the sample command changes. */
const CHANGED_VIEWS = {
  site: `services/site/projects/overview/${VIEWS}/main`,
  area: `services/area/projects/mixer/${VIEWS}/main`,
} as const;

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const resource = (...files: readonly string[]): string =>
  json({ scope: 'G', version: 1, restricted: false, overridable: true, files, attributes: {} });

/** viewText returns a Perspective view that shows a text. */
function viewText(text: string): string {
  const label = { type: 'ia.display.label', meta: { name: 'Label' }, props: { text } };
  return json({ custom: {}, params: {}, props: {}, root: { type: 'ia.container.flex', children: [label] } });
}

function project(path: string, title: string, views: Readonly<Record<string, string>>): PlantFiles {
  const files: Record<string, string> = {
    [`${path}/project.json`]: json({ title, description: '', enabled: true, inheritable: false }),
  };
  for (const [name, text] of Object.entries(views)) {
    files[`${path}/${VIEWS}/${name}/view.json`] = viewText(text);
    files[`${path}/${VIEWS}/${name}/resource.json`] = resource('view.json');
  }
  return files;
}

/** systemProperties returns the settings of a gateway. Its name is replaced by the agent. */
function systemProperties(path: string, locale: string): PlantFiles {
  const folder = `${path}/ignition/system-properties`;
  return {
    [`${folder}/config.json`]: json({ systemName: 'replaced-by-the-agent', defaultLocale: locale }),
    [`${folder}/resource.json`]: resource('config.json'),
  };
}

/** plantFiles returns the first commit: two services, shared scripts and an overlay for development. */
export function plantFiles(): PlantFiles {
  return {
    'README.md': 'A plant with two gateways: site and area. Push a change of a view, and see it arrive.\n',
    ...project('services/site/projects/overview', 'Overview', { main: 'Overview of the plant', alarms: 'Alarms' }),
    ...project('services/site/projects/line-1', 'Line 1', { main: 'Line 1' }),
    ...systemProperties('services/site/config/resources/core', 'en'),
    ...systemProperties('services/site/config/resources/dev', 'en-GB'),
    ...project('services/area/projects/mixer', 'Mixer', { main: 'Mixer' }),
    ...systemProperties('services/area/config/resources/core', 'en'),
    'shared/scripts/plant/code.py': 'def scale(value, factor):\n    return value * factor\n',
    'shared/scripts/plant/resource.json': resource('code.py'),
  };
}

/** changedFiles returns a change of both gateways. */
export function changedFiles(text: string): PlantFiles {
  return Object.fromEntries(
    Object.entries(CHANGED_VIEWS).map(([name, view]) => [`${view}/view.json`, viewText(`${name}: ${text}`)]),
  );
}

/** brokenFiles returns a change of both gateways that no gateway could load: the JSON of a view ends too early. */
export function brokenFiles(text: string): PlantFiles {
  const cut = (content: string): string => content.slice(0, content.lastIndexOf(']'));
  return Object.fromEntries(Object.entries(changedFiles(text)).map(([path, content]) => [path, cut(content)]));
}
