import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buildService } from './build.ts';
import { buildConsole } from './web/build.ts';

/**
 * Builds the release artefacts into `release/`: the npm package, a self-contained archive for this platform, a software
 * bill of materials and checksums. `test/smoke.ts` then starts each artefact.
 */
const root = import.meta.dirname;
const target = join(root, 'release');
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { version, description, license } = read('package.json');
const platform = `${process.platform}-${process.arch}`;

/** The files of the service itself. Its dependencies are bundled, except for the native module. */
const serviceFiles = ['dist', 'docs', 'deploy', 'openapi.json', 'README.md', 'CHANGELOG.md', 'LICENSE'];
const nativeModule = 'better-sqlite3';

async function buildRelease(): Promise<void> {
  await buildConsole();
  await buildService();
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  const folder = mkdtempSync(join(tmpdir(), 'muster-release-'));
  try {
    buildPackage(join(folder, 'package'));
    buildArchive(join(folder, `muster-${version}-${platform}`));
    writeFileSync(join(target, `muster-${version}.cdx.json`), billOfMaterials());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeFileSync(join(target, 'SHA256SUMS'), checksums());
  for (const name of readdirSync(target).sort())
    console.log(`${(statSync(join(target, name)).size / 1e6).toFixed(1).padStart(7)} MB  release/${name}`);
}

/** `npx muster-ops serve`: the bundle, with the native module as its only dependency. */
function buildPackage(stage: string): void {
  copyService(stage);
  const dependencies = { [nativeModule]: read('package.json').dependencies[nativeModule] };
  const bin = { muster: 'dist/main.js', 'muster-ops': 'dist/main.js' };
  const manifest = {
    name: 'muster-ops',
    version,
    description,
    license,
    type: 'module',
    bin,
    engines: { node: '>=24.7' },
    dependencies,
  };
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // The modes in the package depend on the umask, and on that of npm.
  execFileSync('chmod', ['-R', 'u+rw,go+r,go-w,a+X', stage]);
  npm(stage, ['pack', '--umask=0022', '--pack-destination', target]);
}

/** Node, the bundle and the native module: runs on a machine that has only the C library. */
function buildArchive(stage: string): void {
  copyService(stage);
  const module = `node_modules/${nativeModule}`;
  for (const file of ['package.json', 'lib', 'LICENSE', `prebuilds/${platform}.node`])
    cpSync(join(root, module, file), join(stage, module, file), { recursive: true });
  cpSync(process.execPath, join(stage, 'bin/node'));
  chmodSync(join(stage, 'bin/node'), 0o755);
  // Small systems lack the C++ library that Node is linked with.
  mkdirSync(join(stage, 'lib'));
  for (const library of process.platform === 'linux' ? librariesOf(process.execPath) : [])
    if (!isGlibc.test(library)) copyFileSync(library, join(stage, 'lib', basename(library)));
  const manifest = { name: 'muster-ops', version, license, type: 'module' };
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(stage, 'muster'), launcher, { mode: 0o755 });
  const name = `muster-${version}-${platform}`;
  // The same content gives the same archive, also with another umask. `-n` leaves the time out of the header of gzip.
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0', '--format=gnu'];
  const mode = '--mode=u+rw,go+r,go-w,a+X';
  const archive = join(target, `${name}.tar.gz`);
  execFileSync('tar', [...same, mode, '-I', 'gzip -n', '-cf', archive, '-C', join(stage, '..'), name]);
}

/** npm adds the time and a random number. Without them, the same dependencies give the same file. */
function billOfMaterials(): string {
  const sbom = JSON.parse(
    npm(root, ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only']),
  );
  delete sbom.metadata.timestamp;
  delete sbom.serialNumber;
  const digest = hash('sha256', JSON.stringify(sbom), 'hex');
  const [, a, b, c, d] = /^(.{8})(.{4})(.{3})(?:.)(?:.)(.{15})/.exec(digest) ?? [];
  // A UUID of version 8, whose content is up to the author.
  const serialNumber = `urn:uuid:${a}-${b}-8${c}-8${d?.slice(0, 3)}-${d?.slice(3)}`;
  return `${JSON.stringify({ ...sbom, serialNumber }, null, 2)}\n`;
}

function copyService(stage: string): void {
  for (const file of serviceFiles) cpSync(join(root, file), join(stage, file), { recursive: true });
  rmSync(join(stage, 'dist/sources.txt'), { force: true });
  rmSync(join(stage, 'dist/web/sources.txt'), { force: true });
}

const isGlibc = /\/(ld-linux[^/]*|lib(c|m|dl|pthread|rt))\.so\.\d+$/;

const librariesOf = (program: string): string[] =>
  [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)].map(
    ([, path = '']) => path,
  );

/** Finds its own folder through symbolic links, with nothing but the shell. */
const launcher = `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=\${self%/*}/$link ;; esac
done
case $self in */*) here=\${self%/*} ;; *) here=. ;; esac
LD_LIBRARY_PATH="$here/lib" MALLOC_MMAP_THRESHOLD_=1048576 exec "$here/bin/node" --max-semi-space-size=4 "$here/dist/main.js" "$@"
`;

function checksums(): string {
  return readdirSync(target)
    .sort()
    .map((name) => `${hash('sha256', readFileSync(join(target, name)), 'hex')}  ${name}\n`)
    .join('');
}

function npm(cwd: string, args: string[]): string {
  // The variables that npm sets for this script would apply to the other package.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  return execFileSync('npm', [...args, '--loglevel=error'], { cwd, env, encoding: 'utf8', maxBuffer: 1e8 });
}

await buildRelease();
if (process.argv.includes('--twice')) await compareSecondRun();

/** Builds everything again, with another umask, and fails unless all artefacts are the same. */
async function compareSecondRun(): Promise<void> {
  const first = checksums();
  rmSync(join(root, 'dist'), { recursive: true });
  const umask = process.umask(0o077);
  await buildRelease();
  process.umask(umask);
  if (checksums() !== first) throw new Error(`Two runs differ:\n${first}\n${checksums()}`);
  console.log('✔ two runs give the same bytes');
}
