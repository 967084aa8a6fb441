# The formula for Homebrew: a tap's Formula/claude-mem.rb.
class ClaudeMem < Formula
  desc "Persistent memory for coding agents"
  homepage "https://@REPO@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@URL@/claude-mem_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@SHA256:darwin_arm64@"
    end
    on_intel do
      url "@URL@/claude-mem_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@SHA256:darwin_amd64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/claude-mem_@VERSION@_linux_arm64.tar.gz"
      sha256 "@SHA256:linux_arm64@"
    end
    on_intel do
      url "@URL@/claude-mem_@VERSION@_linux_amd64.tar.gz"
      sha256 "@SHA256:linux_amd64@"
    end
  end

  def install
    bin.install "claude-mem", "claude-mem-hook"
  end

  def caveats
    "`claude-mem install` connects your agent; `claude-mem uninstall` before `brew uninstall` takes it out again."
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/claude-mem --version")
  end
end
