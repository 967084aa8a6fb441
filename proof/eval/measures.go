package main

import "math"

// depth is how many results of a query count.
const depth = 10

// figures are the usual measures of a ranking, each from 0 to 1.
type figures struct {
	recall1, recall5, recall10 float64 // relevant documents found, over min(relevant, k)
	mrr                        float64 // 1 / rank of the first relevant one
	ndcg                       float64 // discounted gains over those of the ideal order
}

// judge measures the ranking of a query. Grades say how relevant a document is,
// more than 0; the gain of a grade is 2^grade-1, so 1 where all are equal to 1.
func judge(ranked []string, grades map[string]int) figures {
	var f figures
	found, dcg := 0, 0.0
	for i, id := range ranked[:min(len(ranked), depth)] {
		if grade := grades[id]; grade > 0 {
			found++
			if f.mrr == 0 {
				f.mrr = 1 / float64(i+1)
			}
			dcg += gain(grade) * discount(i)
		}
		share := func(k int) float64 { return float64(found) / float64(max(1, min(k, len(grades)))) }
		if i < 1 {
			f.recall1 = share(1)
		}
		if i < 5 {
			f.recall5 = share(5)
		}
		f.recall10 = share(10)
	}
	if ideal := ideal(grades); ideal > 0 {
		f.ndcg = dcg / ideal
	}
	return f
}

func gain(grade int) float64  { return math.Exp2(float64(grade)) - 1 }
func discount(at int) float64 { return 1 / math.Log2(float64(at)+2) }

// ideal is the best that the first results can have.
func ideal(grades map[string]int) float64 {
	byGrade := map[int]int{}
	top := 0
	for _, g := range grades {
		byGrade[g]++
		top = max(top, g)
	}
	sum, at := 0.0, 0
	for g := top; g > 0; g-- {
		for range byGrade[g] {
			if at < depth {
				sum += gain(g) * discount(at)
			}
			at++
		}
	}
	return sum
}

// mean averages figures, one for each query.
func mean(all []figures) figures {
	var sum figures
	for _, f := range all {
		sum.recall1 += f.recall1
		sum.recall5 += f.recall5
		sum.recall10 += f.recall10
		sum.mrr += f.mrr
		sum.ndcg += f.ndcg
	}
	n := float64(max(1, len(all)))
	return figures{sum.recall1 / n, sum.recall5 / n, sum.recall10 / n, sum.mrr / n, sum.ndcg / n}
}
