package offline

// Chinese has no blanks and no adverb that orders by itself: 总是 describes as often.
var chinese = &ruleCues{
	label:     phrases("规则： | 规则: | 规则是 | 规范： | 规范: | 约定： | 约定: | 原则： | 原则: | 项目规则 | 通用规则 | 团队规则 | 我们的规则 | 我们的约定 | 作为规则 | 请记住 | 请牢记 | 記住 | 规定："),
	lasting:   phrases("以后 | 今后 | 从现在起 | 从现在开始 | 从今以后 | 从今往后 | 永远 | 始终 | 一律 | 每次 | 每当 | 任何时候 | 绝对 | 绝不 | 决不 | 下次 | 無論何時"),
	place:     phrases("在这个项目 | 在本项目 | 这个项目里 | 这个项目中 | 本项目中 | 本项目里 | 这个仓库里 | 这个仓库中 | 在这个仓库 | 本仓库 | 我们项目 | 我们的项目 | 我们的代码"),
	scope:     phrases("我们 | 团队 | 所有人 | 全部 | 统一"),
	please:    phrases("请"),
	form:      phrases("不要 | 别 | 不能 | 不可 | 不得 | 不许 | 不准 | 不再 | 禁止 | 严禁 | 必须 | 只能 | 只用 | 只使用 | 务必 | 都要 | 都用 | 要用 | 使用 | 避免 | 应该 | 应当 | 绝不 | 决不"),
	forbids:   phrases("不要 | 别 | 不能 | 不得 | 不许 | 不准 | 禁止 | 严禁 | 绝不 | 决不"),
	again:     phrases("再也 | 再次"),
	because:   phrases("因为 | 否则 | 不然 | 会阻塞 | 是生成的 | 自动生成"),
	all:       phrases("所有的 | 所有 | 每个 | 任何"),
	keeps:     phrases("不能改变 | 不得改变 | 必须保持 | 保持不变"),
	contrast:  phrases("而不是 | 而非 | 代替"),
	describes: endsIn(),
	once:      phrases("暂时 | 目前 | 今天 | 这次 | 这一次 | 先别 | 先不要 | 先不 | 还不要 | 现在不要 | 以后再 | 稍后 | 之前"),
	broken:    phrases("失败 | 报错 | 错误 | 崩溃 | 挂了 | 卡住 | 返回 | 出现 | 不通过 | 超时 | 没反应 | 显示 | 变成 | 打不开 | 不工作 | 无法"),
	hedge:     phrases("可能 | 也许 | 我觉得 | 好像 | 似乎 | 我想 | 我认为 | 大概"),
	quotes:    phrases("提示 | 日志 | 文档说 | 写着 | 据说 | 他说"),
	asks:      phrases("为什么 | 怎么 | 如何 | 什么 | 哪 | 是否 | 能不能 | 可不可以 | 是不是 | 要不要 | 有没有"),
	also:      phrases("还有 | 另外 | 同时 | 也"),
}
