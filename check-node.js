// Runs before the scripts in TypeScript, which an old Node cannot read: so it is plain JavaScript.
const isOld = (version) => {
  const [major, minor] = version.split('.').map(Number);
  return major < 24 || (major === 24 && minor < 7);
};
const own = process.versions.node;
// npm runs the scripts on the Node that it has installed, where there is one for the platform.
const installed = /\bnode\/v(\S+)/.exec(process.env.npm_config_user_agent ?? '')?.[1] ?? own;
if (isOld(own)) {
  const platform = `${process.platform}-${process.arch}`;
  console.error(
    `Muster needs Node 24.7 or newer, and this is ${own}. npm has no Node for ${platform} to install with it.`,
  );
  process.exit(1);
}
if (isOld(installed))
  console.log(`Your Node is ${installed}. Muster runs on ${own}, which npm ci installed.`);
