# What the scripts share: finding a JDK and Maven. Sourced, not run.

unset CDPATH
KVTIER_HOME=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
MINIMUM_JDK=22

jdk_version() {
  "$1/bin/java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

usable_jdk() {
  [ -n "$1" ] && [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 1
  local version
  version=$(jdk_version "$1")
  [ -n "$version" ] && [ "$version" -ge "$MINIMUM_JDK" ]
}

jdk_candidates() {
  printf '%s\n' "${JAVA_HOME:-}"
  if command -v java >/dev/null 2>&1; then
    dirname "$(dirname "$(readlink -f "$(command -v java)")")"
  fi
  # The usual folders; within one, the highest version first.
  ls -d /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* /Library/Java/JavaVirtualMachines/*/Contents/Home \
    "${HOME:-/nonexistent}"/.sdkman/candidates/java/* "${HOME:-/nonexistent}"/.jdks/* "${HOME:-/nonexistent}"/.asdf/installs/java/* 2>/dev/null | sort -rV
}

# Sets JAVA_HOME to a JDK of at least MINIMUM_JDK, or ends with exit code 3 and says what to install.
require_jdk() {
  local candidate
  while IFS= read -r candidate; do
    if usable_jdk "$candidate"; then
      export JAVA_HOME=$candidate
      return
    fi
  done < <(jdk_candidates)
  echo "kvtier needs a JDK $MINIMUM_JDK or newer; none was found in JAVA_HOME (${JAVA_HOME:-not set}), on PATH or in the usual JVM folders." >&2
  echo "Install one, for example Temurin 25 (apt: temurin-25-jdk, sdkman: sdk install java 25-tem), or set JAVA_HOME." >&2
  exit 3
}

require_maven() {
  command -v mvn >/dev/null 2>&1 && return
  echo "kvtier builds with Maven 3.8.1 or newer; mvn is not on PATH. Install it (apt: maven, brew: maven)." >&2
  exit 3
}

# Runs Maven in the repository; its own use of internal JDK methods is not our users' concern.
run_maven() {
  MAVEN_OPTS="${MAVEN_OPTS:-} --enable-native-access=ALL-UNNAMED -Djansi.mode=strip $(unsafe_flag)" \
    mvn -f "$KVTIER_HOME/pom.xml" -B --no-transfer-progress -Dstyle.color=never "$@"
}

unsafe_flag() {
  [ "$(jdk_version "$JAVA_HOME")" -ge 24 ] && printf '%s' '--sun-misc-unsafe-memory-access=allow'
  return 0
}

# True if a POM or a source of bindings, core or the given module is newer than the given file, or the file is missing.
stale() {
  local module=$1 stamp=$2
  [ ! -f "$stamp" ] && return 0
  [ -n "$(find "$KVTIER_HOME"/pom.xml "$KVTIER_HOME"/{bindings,core,"$module"}/{pom.xml,src/main} "$KVTIER_HOME"/bindings/src/generated -newer "$stamp" -print -quit)" ]
}

# Builds a module, and what it needs, if it is stale; several callers at once build once.
build_if_stale() {
  local module=$1 stamp=$KVTIER_HOME/$1/target/built
  stale "$module" "$stamp" || return 0
  require_maven
  mkdir -p "$KVTIER_HOME/$module/target"
  exec 9>"$KVTIER_HOME/.build-lock"
  if command -v flock >/dev/null 2>&1; then
    flock -n 9 || { echo "kvtier: waiting for another build to end..." >&2; flock 9; }
  fi
  if stale "$module" "$stamp"; then
    echo "kvtier: building (first use, or the sources have changed)..." >&2
    # A source that changes during the build is newer than the stamp.
    touch "$stamp.new"
    build_quietly "$module"
    mv "$stamp.new" "$stamp"
  fi
  exec 9>&-
}

# Builds a module, and what it needs, without tests, quietly; shows Maven's words only if it fails.
build_quietly() {
  local log
  log=$(mktemp)
  if ! run_maven -q package -DskipTests -Dspotless.check.skip=true -Djacoco.skip=true -pl "$1" -am >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "kvtier could not be built; see above." >&2
    exit 1
  fi
  rm -f "$log"
}
